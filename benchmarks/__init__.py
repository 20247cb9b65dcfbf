"""How fast, how large, how complete: Lookalike beside other finders, beside mrjob's own floor, and as input grows.

``make bench`` runs ``bench`` and ``plot``, ``make growth`` runs ``growth``. The way of a measurement:
``corpora`` are generated once, ``truth`` finds all their pairs, ``contenders`` says how each row of the
table is started, ``measure`` runs it as a process of its own, ``results`` makes the table and the ratios.
The other finders are functions of ``finders`` and ``by_hand``, on ``texts`` and ``arrays``. A second table is of
programs that clean a corpus: ``cleaning`` holds what they keep against the exact answer. Those of others run in an
environment of their own, ``datatrove_cleaner`` there.
"""
