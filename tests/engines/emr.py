"""Submission to an emulated EMR: the API answers on loopback, and steps are really run, here.

What a test can show: what is asked of EMR, that everything which a step needs was uploaded, and that its commands do
their work with nothing else. What it cannot: that a real image can be bootstrapped so, or that roles exist.
"""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import logging
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional
from urllib.parse import parse_qsl

from tests.engines.emr_steps import Storage, StreamingStep, TaskFailed
from tests.engines.engine import END_SECONDS, Engine
from tests.engines.task_python import make_task_python

HOST = "127.0.0.1"
POLL_SECONDS = 0.1
REST_SECONDS = 0.2
WORKING_STATES = ("RUNNING", "PENDING")
API_PREFIX = "ElasticMapReduce."
HADOOP_VERSION = "3.4.0"
APPLICATION = "application_1_0001"
SAID = "2026-01-01 00:00:00,000 INFO org.apache.hadoop.{} (main): "
STEP_LOG = f"""\
{SAID.format("yarn.client.api.impl.YarnClientImpl")}Submitted application {APPLICATION}
{SAID.format("mapreduce.Job")}Running job: job_1_0001
"""
TASK_LOG = """\
2026-01-01 00:00:00,000 WARN [main] org.apache.hadoop.mapred.YarnChild: Exception running child : \
java.lang.RuntimeException: PipeMapRed.waitOutputThreads(): subprocess failed with code 1
\tat org.apache.hadoop.streaming.PipeMapRed.waitOutputThreads(PipeMapRed.java:326)
"""


def missing() -> Optional[str]:
    """Why the emulation cannot be used here, if it cannot."""
    absent = [name for name in ("moto", "boto3", "flask") if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed: make test-engines does that" if absent else None


class Request(NamedTuple):
    """A call of EMR's API, as it was sent."""

    operation: str
    arguments: dict[str, Any]


class Answer(NamedTuple):
    """What is said to a call."""

    status: str
    content: dict[str, Any]


class Recorder:
    """A web application that keeps calls of EMR's API and listings of S3, and passes on to another.

    Some answers it gives itself: it refuses, and the other knows nothing of steps that are cancelled.
    """

    def __init__(self, application: Any) -> None:
        self.application = application
        self.requests: list[Request] = []
        self.listings: list[dict[str, str]] = []
        self.refused = ("", "")
        """Method and end of an address; an empty one refuses nothing."""
        self.answers = {"CancelSteps": Answer("200 OK", {"CancelStepsInfoList": []})}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        method, end = self.refused
        if environ["REQUEST_METHOD"] == method and environ["PATH_INFO"].endswith(end):
            start_response("403 Forbidden", [])
            return []
        query = dict(parse_qsl(environ.get("QUERY_STRING", "")))
        if "prefix" in query:
            self.listings.append(query)
        target = environ.get("HTTP_X_AMZ_TARGET", "")
        if target.startswith(API_PREFIX):
            operation = target[len(API_PREFIX):]
            arguments = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            self.requests.append(Request(operation, arguments))
            if operation in self.answers:
                start_response(self.answers[operation].status, [("Content-Type", "application/x-amz-json-1.1")])
                return [json.dumps(self.answers[operation].content).encode()]
            body = json.dumps(with_versions(arguments)).encode()
            environ.update({"wsgi.input": io.BytesIO(body), "CONTENT_LENGTH": str(len(body))})
        answer: Iterable[bytes] = self.application(environ, start_response)
        return answer


def with_versions(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same call with the version of each application, which EMR knows by its release and the emulation does not."""
    if "Applications" not in arguments:
        return arguments
    applications = [{**application, "Version": HADOOP_VERSION} for application in arguments["Applications"]]
    return {**arguments, "Applications": applications}


class EmulatedEmr(Engine):
    """EMR, S3, IAM and EC2 as one server, and a thread that does what clusters do."""

    runner = "emr"
    is_isolated = False  # the server is a thread of this process
    region = "us-east-1"

    def start(self) -> None:
        from moto.moto_api._internal import moto_api_backend
        from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
        from werkzeug.serving import make_server

        # What others of this process have left.
        moto_api_backend.reset()
        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        self._recorder = Recorder(DomainDispatcherApplication(create_backend_app))
        self._server = make_server(HOST, 0, self._recorder, threaded=True)
        self.endpoint = f"http://{HOST}:{self._server.server_port}"
        self.env.update(AWS_ACCESS_KEY_ID="test", AWS_SECRET_ACCESS_KEY="test", AWS_EC2_METADATA_DISABLED="true")
        self.storage = Storage(self.endpoint, self.region)
        self.uploads: dict[str, bytes] = {}
        self.task_python = make_task_python(self.folder / "python")
        self._is_ended, self._is_held = threading.Event(), threading.Event()
        self._threads = [threading.Thread(target=self._server.serve_forever), threading.Thread(target=self._move)]
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        if hasattr(self, "_threads"):
            self._is_ended.set()
            self._server.shutdown()
            for thread in self._threads:
                thread.join(END_SECONDS)
            self._server.server_close()
        super().__exit__()

    def runner_options(self) -> dict[str, Any]:
        endpoints = {f"{service}_endpoint": self.endpoint for service in ("emr", "s3", "iam", "ec2")}
        return {
            **endpoints,
            "region": self.region,
            "iam_instance_profile": "an-instance-profile",
            "iam_service_role": "a-service-role",
            "applications": ["Hadoop"],
            "check_cluster_every": 2 * POLL_SECONDS,
            "cloud_fs_sync_secs": 0,
        }

    def requests(self, operation: str) -> list[dict[str, Any]]:
        """The arguments of all calls of an operation of EMR's API so far."""
        return [request.arguments for request in self._recorder.requests if request.operation == operation]

    @contextmanager
    def refusing(self, name: str, method: str = "PUT") -> Iterator[None]:
        """While files whose names end so cannot be uploaded, or read if the method is ``GET``."""
        self._recorder.refused = (method, name)
        try:
            yield
        finally:
            self._recorder.refused = ("", "")

    @contextmanager
    def refusing_calls(self, operation: str, kind: str, message: str) -> Iterator[None]:
        """While an operation of EMR's API ends in an error."""
        others = self._recorder.answers
        refusal = Answer("400 Bad Request", {"__type": kind, "message": message})
        self._recorder.answers = {**others, operation: refusal}
        try:
            yield
        finally:
            self._recorder.answers = others

    @contextmanager
    def holding(self) -> Iterator[None]:
        """While no cluster begins a step."""
        self._is_held.set()
        try:
            yield
        finally:
            self._is_held.clear()

    def listings(self) -> list[tuple[str, Optional[str]]]:
        """What was listed in S3 so far: the start of keys, and how many at a time, if that was said."""
        return [(query["prefix"], query.get("max-keys")) for query in self._recorder.listings]

    def steps(self) -> list[dict[str, Any]]:
        """All steps that were submitted, in their order."""
        return [step for arguments in self.requests("AddJobFlowSteps") for step in arguments["Steps"]]

    def _move(self) -> None:
        """Until the end: run what clusters have to do, one step after another, and end clusters that are done."""
        from moto.core.models import DEFAULT_ACCOUNT_ID
        from moto.emr.models import emr_backends

        clusters = emr_backends[DEFAULT_ACCOUNT_ID][self.region].clusters
        while not self._is_ended.wait(POLL_SECONDS):
            can_work = [] if self._is_held.is_set() else list(clusters.values())
            for cluster in can_work:
                for step in [step for step in cluster.steps if step.state in WORKING_STATES]:
                    self._run_step(cluster, step)

    def _run_step(self, cluster: Any, step: Any) -> None:
        step.state = "RUNNING"
        step.start()
        self.uploads.update(self.storage.everything())
        logs = {f"steps/{step.id}/syslog": STEP_LOG.encode()}
        try:
            streaming = StreamingStep(step.args, self.storage, self.folder / "steps" / step.id,
                                      self.task_python.parent, self.env)
            streaming.run()
        except Exception as error:  # whatever it is, the step has failed and the cluster goes on
            (self.logs / f"step-{step.id}.log").write_text(f"{step.name}: {error}\n")
            if isinstance(error, TaskFailed):
                container = f"containers/{APPLICATION}/container_1_0001_01_000002"
                logs.update({f"{container}/stderr": error.stderr, f"{container}/syslog": TASK_LOG.encode()})
            state, step.last_state_change_reason = "FAILED", str(error)
        else:
            logs[f"steps/{step.id}/syslog"] += f"{SAID.format('mapreduce.Job')}{streaming.told_counters()}\n".encode()
            state = "COMPLETED"
        step.state = state
        # As one of EMR, a cluster is said to run for a moment more.
        if not any(other.state in WORKING_STATES for other in cluster.steps) and not self._is_ended.wait(REST_SECONDS):
            self._rest(cluster, logs)

    def _rest(self, cluster: Any, logs: dict[str, bytes]) -> None:
        """As EMR does: end the cluster and bring its logs to S3; those of one that goes on would come minutes later."""
        if cluster.keep_job_flow_alive_when_no_steps:
            cluster.state = "WAITING"
            return
        for name, content in logs.items():
            self.storage.write(f"{cluster.log_uri}{cluster.id}/{name}.gz", gzip.compress(content))
        cluster.terminate()
