"""Lines that engines have been seen to log become progress and addresses."""

from __future__ import annotations

import logging

import pytest

from jobs.engine_log import MRJOB, heard

HADOOP = """\
  Retrying connect to server: host/127.0.0.1:8032. Already tried 0 time(s); maxRetries=45
  Retrying connect to server: host/127.0.0.1:8032. Already tried 1 time(s); maxRetries=45
  The url to track the job: http://127.0.0.1:8088/proxy/application_1700000000000_0001/
  Running job: job_1700000000000_0001
   map 0% reduce 0%
   map 50% reduce 0%
   map 100% reduce 33%
  Job job_1700000000000_0001 completed successfully"""
SPARK = """\
  Start Jetty 127.0.0.1:4040 for SparkUI
  Successfully started service 'SparkUI' on port 4040.
  Submitting 3 missing tasks from ShuffleMapStage 0 (PairwiseRDD[7] at groupBy) (first 15 tasks are for partitions 0)
  Starting task 0.0 in stage 0.0 (TID 0) (127.0.0.1,executor 0, partition 0, PROCESS_LOCAL, 10891 bytes)
  Finished task 0.0 in stage 0.0 (TID 0) in 15739 ms on 127.0.0.1 (executor 0) (1/3)
  Finished task 2.1 in stage 0.0 (TID 4) in 15739 ms on 127.0.0.1 (executor 0) (2/3)
  Application report for application_1700000000000_0002 (state: ACCEPTED)"""
REPORT = """
\t client token: N/A
\t tracking URL: http://host:8088/proxy/application_1700000000000_0002/
\t user: me"""
EMR = """\
Created new cluster j-123
Waiting for Step 1 of 1 (s-456) to complete...
  PENDING (cluster is STARTING: Provisioning)
  RUNNING for 0:01:10
    45.2% complete
  COMPLETED
Waiting for cluster (j-123) to terminate...
  TERMINATING
Waiting 10 minutes for logs to transfer to S3... (ctrl-c to skip)"""
PROGRESS = {
    HADOOP: [("map", 0, 100, "%"), ("map", 50, 100, "%"), ("map", 100, 100, "%"), ("reduce", 33, 100, "%")],
    SPARK: [("stage 0", 0, 3, "tasks"), ("stage 0", 1, 3, "tasks"), ("stage 0", 2, 3, "tasks"),
            ("accepted", 0, 100, "%")],
    EMR: [("pending", 0, 100, "%"), ("running", 0, 100, "%"), ("running", 45, 100, "%"), ("terminating", 0, 100, "%")],
}
ADDRESSES = {
    HADOOP: ["no answer from host/127.0.0.1:8032, which is tried again",
             "http://127.0.0.1:8088/proxy/application_1700000000000_0001/"],
    SPARK: ["http://localhost:4040", "http://host:8088/proxy/application_1700000000000_0002/"],
    EMR: ["EMR's cluster j-123", "EMR's step s-456",
          "Waiting 10 minutes for logs to transfer to S3... (ctrl-c to skip)"],
}


JAVA = "org.apache.hadoop.yarn.exceptions.YarnException"
QUEUE = "Failed to submit application_1_2 to YARN : Application application_1_2 submitted by me to unknown queue: nope"
REASONS: dict[str, tuple[list[tuple[int, str]], str]] = {
    "nothing": ([(logging.WARNING, "No counters found")], ""),
    "a job that is refused": ([(logging.ERROR, f"Error Launching job : {JAVA}: {QUEUE}\n\tat x.Y(Z.java:1)"),
                               (logging.INFO, "Streaming Command Failed!")], f"Error Launching job : {QUEUE}"),
    "the client": ([(logging.ERROR, "STDERR: 2026-11-18 15:19:12,501 WARN hdfs.DataStreamer: x"),
                    (logging.ERROR, "STDERR: put: The DiskSpace quota of /user/me is exceeded"),
                    (logging.ERROR, "STDERR: \tat x.Y(Z.java:1)")], "The DiskSpace quota of /user/me is exceeded"),
    "a job that is killed": ([(logging.INFO, "Job job_1_2 failed with state KILLED due to: by an administrator\nx"),
                              (logging.ERROR, "Job not successful!"),
                              (logging.ERROR, "STDERR: ls: `hdfs:///tmp/logs': No such file or directory")],
                             "KILLED: by an administrator"),
    "a task that ends": ([(logging.INFO, "Error: java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): "
                                         "subprocess failed with code 1"),
                          (logging.INFO, "Job job_1_2 failed with state FAILED due to: Task failed task_1_2_m_000000"),
                          (logging.ERROR, "Job not successful!")], "a task ended with code 1"),
    "a task that cannot start": ([(logging.INFO, "x.Y: subprocess failed with code 127"),
                                  (logging.ERROR, "Job not successful!")],
                                 "a task ended with code 127, as where task_python_bin names no program"),
    "tasks of a job that is killed": ([(logging.INFO, "Job job_1_2 failed with state KILLED due to: by me"),
                                       (logging.ERROR, "x.Y: subprocess failed with code 143")], "KILLED: by me"),
    "a task that ends in a job that is done": ([(logging.INFO, "x.Y: subprocess failed with code 1"),
                                                (logging.INFO, "Job job_1_2 completed successfully"),
                                                (logging.ERROR, "STDERR: cat: Connection refused")],
                                               "Connection refused"),
    "nothing behind something": ([(logging.ERROR, f"Error initializing SparkContext.\n{JAVA}: no such queue"),
                                  (logging.ERROR, "\nProbable cause of failure:\n\nx")],
                                 "Error initializing SparkContext: no such queue"),
    "a job that fails": ([(logging.ERROR, "Job not successful!"),
                          (logging.ERROR, "STDERR: ls: `hdfs:///tmp/logs': No such file or directory")],
                         "Job not successful!"),
    "Java's second line": ([(logging.ERROR, f"Error initializing SparkContext.\n{JAVA}: no such queue\n\tat x")],
                           "Error initializing SparkContext: no such queue"),
    "an uncaught exception": ([(logging.ERROR, "Lost executor 1"),
                               (logging.INFO, f'x\nException in thread "main" {JAVA}: Application failed\n\tat x'),
                               (logging.ERROR, "Uncaught exception in a hook")], "Application failed"),
    "a cluster that ends": ([(logging.INFO, "  FAILED"),
                             (logging.INFO, "Cluster j-1 was TERMINATED_WITH_ERRORS: On the master, bootstrap failed")],
                            "Cluster j-1 was TERMINATED_WITH_ERRORS: On the master, bootstrap failed"),
}


@pytest.mark.parametrize("said", REASONS)
def test_the_reason_of_a_failure_is_heard(said: str) -> None:
    logger = logging.getLogger(f"{MRJOB}.hadoop")
    level = logger.level
    logger.setLevel(logging.INFO)
    records, reason = REASONS[said]
    try:
        with heard(lambda *_: None, lambda _: None) as log:
            for level_of_record, message in records:
                logger.log(level_of_record, message)
    finally:
        logger.setLevel(level)
    assert log.reason == reason


@pytest.mark.parametrize("log", [HADOOP, SPARK, EMR], ids=["hadoop", "spark", "emr"])
def test_progress_and_addresses_are_heard_and_told_once(log: str) -> None:
    progress: list[tuple[str, int, int, str]] = []
    addresses: list[str] = []

    def listener(stage: str, done: int, total: int, unit: str = "tasks") -> None:
        progress.append((stage, done, total, unit))

    logger = logging.getLogger(f"{MRJOB}.logs.step")
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        with heard(listener, addresses.append):
            for line in [*log.splitlines(), log.splitlines()[0]]:
                logger.info(line)
            # A record of several lines, as YARN's client writes them.
            logger.info(REPORT if log is SPARK else "")
        logger.info("map 7% reduce 7%")
    finally:
        logger.setLevel(level)
    assert progress == PROGRESS[log] and addresses == ADDRESSES[log]
