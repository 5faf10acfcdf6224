"""Every kind of event, told by the real binary."""

import os
import subprocess
import unittest

from support import BINARY, RETRY, Frames, NotingClient, RelayCase, call, text
from relaycode import RelayError


class Events(RelayCase):
    def run_prompt(self, *args, act=None):
        with NotingClient(**self.options(*args)) as relay:
            frames = Frames(relay)
            if act:
                act(relay, frames)
            else:
                relay.run("go")
            return frames.events()

    def test_an_answer_with_a_call(self):
        self.script(call("bash", command="echo hi; sleep 0.2; echo ho"), text("done"))
        kinds = self.run_prompt("--access", "full")
        self.assertEqual((kinds[0], kinds[-1]), ("agent_start", "agent_end"))
        for kind in ("turn_start", "message_start", "message_update", "message_end", "turn_end",
                     "tool_execution_start", "tool_execution_update", "tool_execution_end"):
            self.assertIn(kind, kinds)

    def test_requests_and_answers_that_are_tried_again(self):
        self.script({"status": 503}, {"text": "ha", "truncate": True}, text("whole"))
        kinds = self.run_prompt()
        for kind in ("request_retry", "auto_retry_start", "auto_retry_end"):
            self.assertIn(kind, kinds)

    def test_another_model_goes_on(self):
        self.models(RETRY.replace("{", "{fallbackChains: {default: [work/m2]}, ", 1).replace("requestMaxRetries: 1", "requestMaxRetries: 0"))
        self.script({"status": 503}, text("from the second"))
        kinds = self.run_prompt()
        for kind in ("retry_fallback_applied", "retry_fallback_succeeded"):
            self.assertIn(kind, kinds)

    def test_the_queue_a_question_and_a_title(self):
        ask = {"id": "c", "question": "Which?", "options": [{"label": "red"}]}
        self.script(call("ask", questions=[ask]), text("done"), text("more"))

        def act(relay, frames):
            relay.set_attended(True)
            relay.set_session_name("a name")
            relay.prompt("go")
            question = frames.event("question_asked")["question"]
            relay.follow_up("and then")
            relay.answer_question(question["id"], chosen=[0])
            frames.event("agent_end")

        kinds = self.run_prompt(act=act)
        for kind in ("queue_update", "question_asked", "question_answered", "session_titled"):
            self.assertIn(kind, kinds)

    def test_going_back_to_a_mark(self):
        self.config("agent:\n  checkpoint: true\n")
        self.script(call("checkpoint", goal="try"), call("rewind", report="it does not work"), text("done"))
        self.assertIn("conversation_rewound", self.run_prompt())

    def test_room_in_a_long_conversation(self):
        self.put("big.txt", "some words of a line\n" * 1_300)
        self.models(RETRY, window=60_000)
        self.config("compaction: {promotion: false, keepRecentTokens: 1000}\n")
        self.script(call("read", path="big.txt"), text("done"), text("# Goal\nIt was read."), text("more"))

        def act(relay, frames):
            relay.run("read it")
            relay.on_hook(["session_before_compact"], lambda hook, data: False)
            with self.assertRaises(RelayError) as caught:
                relay.compact()
            self.assertEqual(caught.exception.code, "cancelled")
            relay.set_hooks([])
            made = relay.compact(custom_instructions="the file")
            self.assertEqual(made["action"], "summarized", made)
            self.assertLess(made["tokensAfter"], made["tokensBefore"])
            self.assertTrue(relay.undo_compaction()["done"])
            relay.set_auto_compaction(False)
            self.assertFalse(relay.get_state()["autoCompaction"])
            relay.navigate_tree(relay.get_messages()["messages"][0]["entryId"])
            frames.event("conversation_moved")

        kinds = self.run_prompt(act=act)
        for kind in ("auto_compaction_start", "auto_compaction_end", "compaction_undone", "conversation_moved"):
            self.assertIn(kind, kinds)

    def test_a_model_with_a_larger_window_goes_on(self):
        self.put("big.txt", "some words of a line\n" * 1_300)
        self.models(RETRY, window=60_000, promotes=True)
        self.script(*[call("read", path=f"big.txt:{at}") for at in range(1, 7)], text("done"), window=1_000_000)
        self.assertIn("context_promoted", self.run_prompt())

    def test_a_rule_that_watches_the_answer(self):
        self.put(".relaycode/agent/rules/no.md", '---\ncondition: "forbidden"\n---\nSay something else.\n')
        self.script(text("this is forbidden"), text("fine"))
        self.assertIn("ttsr_triggered", self.run_prompt())

    def test_the_check_of_the_project(self):
        self.put("relaycode.config.json", '{"projectId": "shop", "patch": {"linter": "true"}}')
        options = self.options()
        subprocess.run([BINARY, "trust", "-y"], cwd=self.project, env=options["env"], check=True, capture_output=True)
        self.script(call("write", path="n.txt", content="x\n"), text("done"))
        kinds = self.run_prompt()
        self.assertIn("project_check_start", kinds)
        self.assertIn("project_check_end", kinds)

    def test_something_that_people_should_know(self):
        # A check that nobody trusts does not run, which is said.
        self.put("relaycode.config.json", '{"projectId": "shop", "patch": {"linter": "true"}}')
        self.script(call("write", path="n.txt", content="x\n"), text("done"))
        self.assertIn("notice", self.run_prompt())


    def test_a_plan_is_made_and_approved(self):
        self.script(
            call("write", path="plan://", content="1. a.txt says three\n"), call("exit_plan", title="three"),
            call("write", path="a.txt", content="three\n"), text("done"),
        )

        def act(relay, frames):
            gates = []

            def decide(gate):
                gates.append(gate)
                return {"decision": "approve", "digest": gate["context"]["digest"]}

            relay.on_gate(decide)
            self.assertFalse(relay.set_mode("plan")["requested"])
            self.assertEqual(relay.get_state()["mode"], "plan")
            self.assertEqual(relay.run("plan it"), "done")
            self.assertEqual([gate["stage"] for gate in gates], ["plan"])
            self.assertEqual(gates[0]["context"]["plan"], "1. a.txt says three\n")
            self.assertEqual(frames.frame("workflow_gate_closed")["status"], "accepted")
            self.assertEqual((self.read("a.txt"), relay.get_state()["mode"]), ("three\n", "none"))

        kinds = self.run_prompt(act=act)
        for kind in ("mode_changed", "plan_proposed", "question_asked", "question_answered"):
            self.assertIn(kind, kinds)

    def test_a_goal_is_worked_towards_until_it_is_reached(self):
        self.script(
            text("not yet"), call("read", path="a.txt"), call("goal", op="complete", evidence="a.txt was read"), text("done"),
        )

        def act(relay, frames):
            goal = relay.set_goal("a.txt is read")["goal"]
            self.assertEqual((goal["objective"], goal["status"]), ("a.txt is read", "active"))
            self.assertEqual(relay.run("go"), "done")
            self.assertEqual(relay.get_state(include=["goal"])["goal"]["status"], "complete")

        kinds = self.run_prompt(act=act)
        for kind in ("goal_changed", "goal_continued"):
            self.assertIn(kind, kinds)

    def test_another_key_goes_on(self):
        self.models(RETRY)
        path = os.path.join(self.home, "models.yml")
        with open(path, encoding="utf-8") as file:
            several = file.read().replace("apiKey: sk-test-0123456789", "apiKey: [sk-test-0123456789, sk-test-9876543210]")
        with open(path, "w", encoding="utf-8") as file:
            file.write(several)
        self.script({"status": 401}, text("with the other"))
        self.assertIn("credential_switched", self.run_prompt())

    def test_a_program_is_asked_before_room_is_made_by_itself(self):
        self.put("big.txt", "some words of a line\n" * 1_300)
        self.models(RETRY, window=60_000)
        self.config("compaction: {promotion: false, prune: false, keepRecentTokens: 1000}\n")
        asked, answers = [], [False, "", "# Goal\nWritten by the program."]

        def decide(hook, data):
            asked.append((hook, data))
            return answers.pop(0) if answers else True

        self.script(*[call("read", path=f"big.txt:{at}") for at in range(1, 13)], text("done"), window=1_000_000)

        def act(relay, frames):
            relay.on_hook(["session_before_compact"], decide, timeout_ms=60_000)
            relay.run("read it")

        with NotingClient(**self.options()) as relay:
            frames = Frames(relay)
            act(relay, frames)
            ends = [f["event"] for f in frames.seen if f.get("event", {}).get("type") == "auto_compaction_end"]
        self.assertEqual((asked[0][0], asked[0][1]["reason"]), ("session_before_compact", "threshold"))
        self.assertGreater(asked[0][1]["tokensBefore"], 30_000)
        self.assertEqual(ends[0]["action"], "cancelled")
        self.assertTrue(any("Written by the program." in body for body in self.sent()), ends)


if __name__ == "__main__":
    unittest.main()
