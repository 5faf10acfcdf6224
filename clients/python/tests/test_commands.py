"""Every command of the protocol, against the real binary."""

import os
import threading
import unittest

from support import Frames, NotingClient, RelayCase, call, text
from relaycode import PROTOCOL_VERSION, RelayClosed, RelayError

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Commands(RelayCase):
    def client(self, *args):
        client = NotingClient(**self.options(*args))
        self.addCleanup(client.close)
        return client

    def fails(self, code, function, *args, **kwargs):
        with self.assertRaises(RelayError) as caught:
            function(*args, **kwargs)
        self.assertEqual(caught.exception.code, code, caught.exception)
        return caught.exception

    def test_a_prompt_and_what_is_known_of_it(self):
        self.script(text("It says two."), text("Again."))
        relay = self.client()
        self.assertEqual(relay.ready["protocol_version"], PROTOCOL_VERSION)
        image = {"type": "image", "data": PNG, "mimeType": "image/png"}
        self.assertEqual(relay.run("What does it say?", images=[image]), "It says two.")
        state = relay.get_state(include=["queue", "todos", "tools", "open"])
        self.assertEqual((state["model"], state["isStreaming"]), ("work/m1", False))
        self.assertIn("bash", state["tools"])
        self.assertNotIn("ask", state["tools"], "nobody is there to ask")
        messages = relay.get_messages()
        self.assertEqual([m["message"]["role"] for m in messages["messages"]], ["user", "assistant"])
        first = messages["messages"][0]["entryId"]
        later = relay.get_messages(after=first, limit=1)
        self.assertEqual((len(later["messages"]), later["hasEarlier"], later["hasLater"]), (1, True, False))
        stats = relay.get_session_stats()
        self.assertEqual((stats["prompts"], stats["answers"]), (1, 1))
        self.assertGreater(stats["tokens"]["input"], 0)
        exported = relay.export_html(output_path="talk.html")
        self.assertIn("It says two.", self.read("talk.html"))
        self.fails("failed", relay.export_html, output_path=exported["path"])
        relay.set_session_name("the two")
        self.assertEqual(relay.get_state()["sessionName"], "the two")

    def test_sessions(self):
        self.script(text("one"), text("two"), text("three"))
        relay = self.client()
        first = relay.ready["session_id"]
        frames = Frames(relay)
        relay.run("first prompt")
        relay.run("second prompt")
        prompts = relay.get_branch_messages()["messages"]
        self.assertEqual([p["text"] for p in prompts], ["first prompt", "second prompt"])
        branch = relay.branch(prompts[1]["entryId"])
        self.assertEqual((branch["text"], branch["messages"]), ("second prompt", 2))
        changed = frames.frame("session_changed")
        self.assertEqual((changed["reason"], changed["previousSessionId"]), ("branch", first))
        self.assertEqual(relay.run("third prompt"), "three")
        new = relay.new_session()
        self.assertEqual(new["messages"], 0)
        back = relay.switch_session(first)
        self.assertEqual((back["session_id"], back["messages"]), (first, 4))
        tree = relay.navigate_tree(prompts[1]["entryId"])
        self.assertEqual((tree["text"], tree["messages"]), ("second prompt", 2))
        self.fails("unknown_entry", relay.branch, "nothing")
        self.fails("unknown_session", relay.switch_session, "nothing")
        self.assertEqual(relay.get_state()["session_id"], first)

    def test_hooks_may_say_no(self):
        asked = []

        def decide(hook, data):
            asked.append((hook, data["reason"]))
            return hook != "session_before_switch"

        self.script(text("one"))
        relay = self.client()
        relay.run("first prompt")
        hooks = ["session_before_switch", "session_before_branch", "session_before_tree", "session_before_compact"]
        relay.on_hook(hooks, decide, timeout_ms=60_000)
        self.fails("cancelled", relay.new_session)
        prompt = relay.get_branch_messages()["messages"][0]["entryId"]
        relay.branch(prompt)
        self.assertEqual(asked, [("session_before_switch", "new"), ("session_before_branch", "branch")])
        relay.on_hook(["session_before_switch"], lambda *_: None, timeout_ms=1)
        relay.new_session()
        relay.set_hooks(["session_before_switch"], timeout_ms=1, default="cancel")
        self.fails("cancelled", relay.new_session)

    def test_models(self):
        relay = self.client()
        models = [m["model"] for m in relay.get_available_models()["models"]]
        self.assertLessEqual({"work/m1", "work/m2"}, set(models))
        self.assertEqual(relay.cycle_thinking_level()["thinkingLevel"], "high")
        self.assertEqual(relay.set_thinking_level("low")["thinkingLevel"], "low")
        self.assertEqual(relay.set_model("work/m2")["model"]["id"], "m2")
        self.assertEqual(relay.cycle_model()["model"]["provider"], models[(models.index("work/m2") + 1) % len(models)].split("/")[0])
        self.fails("unknown_model", relay.set_model, "nothing-like-it")

    def test_modes_and_retries(self):
        relay = self.client()
        relay.set_steering_mode("all")
        relay.set_follow_up_mode("all")
        relay.set_interrupt_mode("wait")
        relay.set_auto_retry(False)
        queue = relay.get_state(include=["queue"])
        self.assertFalse(queue["autoRetry"])
        self.assertEqual(queue["queue"]["interruptMode"], "wait")
        self.assertFalse(relay.abort_retry()["done"])
        self.assertFalse(relay.abort()["done"])
        self.assertEqual(relay.compact()["action"], "nothing")
        self.assertFalse(relay.undo_compaction()["done"])

    def test_steering_while_it_works_and_ending_it(self):
        self.script(call("bash", command="sleep 600"), text("after"))
        relay = self.client()
        frames = Frames(relay)
        relay.prompt("go")
        frames.event("tool_execution_start")
        self.fails("busy", relay.prompt, "two at once")
        self.fails("busy", relay.bash, "echo no")
        self.fails("busy", relay.set_todos, [])
        self.assertTrue(relay.prompt("soon", streaming_behavior="steer")["queued"])
        relay.steer("sooner")
        relay.follow_up("later")
        frames.event("queue_update")
        self.assertEqual(relay.get_state(include=["queue"])["queue"]["followUp"], ["later"])
        relay.abort_and_prompt("instead")
        frames.wait(lambda f: f.get("event", {}).get("reason") == "done", "the end of the second prompt")
        self.fails("nothing_to_do", relay.steer, "too late")

    def test_a_prompt_that_fails_late_says_so_by_its_id(self):
        self.models("retry: {maxRetries: 0, requestMaxRetries: 0, streamMaxRetries: 0}\n")
        self.script({"status": 401})
        relay = self.client()
        error = self.fails("run_failed", relay.run, "go")
        self.assertEqual(error.details["reason"], "model_failed")

    def test_commands_of_the_user(self):
        self.script(text("seen"))
        relay = self.client("--access", "full")
        ran = relay.bash("echo hello; exit 3")
        self.assertEqual((ran["exitCode"], ran["isError"]), (3, True))
        self.assertIn("hello", ran["output"])
        relay.bash("echo zebra", exclude_from_context=True)
        relay.run("what did I run?")
        self.assertIn("hello", self.sent()[-1])
        self.assertNotIn("zebra", self.sent()[-1])
        self.assertFalse(relay.abort_bash()["done"])

    def test_a_command_of_the_user_can_be_ended(self):
        relay = self.client("--access", "full")
        frames = Frames(relay)
        result = []
        thread = threading.Thread(target=lambda: result.append(relay.bash("sleep 600")))
        thread.start()
        frames.event("tool_execution_start")
        self.assertTrue(relay.abort_bash()["done"])
        thread.join(60)
        self.assertTrue(result[0]["cancelled"])

    def test_changes_are_taken_back_and_brought_back(self):
        self.script(call("write", path="new.txt", content="made\n"), text("done"))
        relay = self.client()
        self.fails("nothing_to_do", relay.undo)
        relay.run("make it")
        self.assertEqual(self.read("new.txt"), "made\n")
        self.assertEqual(relay.undo()["title"], "make it")
        self.assertFalse(os.path.exists(os.path.join(self.project, "new.txt")))
        relay.redo(any_branch=True)
        self.assertEqual(self.read("new.txt"), "made\n")

    def test_nothing_is_changed_with_read_only_access(self):
        self.script(call("write", path="new.txt", content="made\n"), text("done"))
        relay = self.client("--access", "read-only")
        relay.run("make it")
        self.assertFalse(os.path.exists(os.path.join(self.project, "new.txt")))
        self.fails("not_allowed", relay.undo)
        self.fails("not_allowed", relay.export_html)

    def test_todos(self):
        self.script(text("ok"))
        relay = self.client()
        phases = relay.set_todos([{"name": "All", "tasks": [{"content": "write tests"}]}])["phases"]
        self.assertEqual(phases[0]["tasks"][0]["status"], "in_progress")
        self.assertEqual(relay.get_state(include=["todos"])["todos"], phases)
        relay.run("go on")
        self.assertIn("write tests", self.sent()[0])

    def test_a_plan_that_nobody_saw_waits(self):
        self.script(
            call("write", path="plan://", content="1. three\n"), call("exit_plan", title="three"),
            call("write", path="a.txt", content="three\n"), text("done"),
        )
        relay = self.client()
        self.fails("nothing_to_do", relay.get_plan)
        relay.set_mode("plan")
        relay.run("plan it")
        plan = relay.get_plan()
        self.assertEqual(plan["plan"], "1. three\n")
        self.fails("conflict", relay.approve_plan, "0" * 64)
        with open(plan["planFile"], "a", encoding="utf-8") as file:
            file.write("2. by hand\n")
        self.fails("conflict", relay.approve_plan, plan["digest"])
        self.assertEqual((self.read("a.txt"), relay.get_state()["mode"]), ("one\ntwo\n", "plan"))
        # Another process of relay's goes on with it.
        session = relay.ready["session_id"]
        relay.close()
        relay = self.client("--resume", session)
        self.assertEqual(relay.get_state()["mode"], "plan")
        relay.approve_plan(relay.get_plan()["digest"])
        relay.run("Carry out the plan.")
        self.assertEqual(self.read("a.txt"), "three\n")
        self.assertIn("by hand", self.sent()[-1])
        self.fails("nothing_to_do", relay.approve_plan, plan["digest"])

    def test_a_plan_is_changed_by_words_after_relay_was_started_again(self):
        plan = call("write", path="plan://", content="1. three\n")
        self.script(text("I look."), plan, call("exit_plan", title="three"), text("better now"))
        relay = self.client()
        relay.set_mode("plan")
        relay.run("look")
        session = relay.ready["session_id"]
        relay.close()
        relay = self.client("--resume", session)
        frames = Frames(relay)
        words = {"decision": "keep_planning", "words": "With a test."}
        relay.on_gate(lambda gate: {**words, "digest": gate["context"]["digest"]})
        relay.run("plan it")
        self.assertTrue(frames.event("question_asked")["question"]["freeText"])
        self.assertIn("before they approve it: With a test.", self.sent()[-1])
        relay.set_mode("none")
        self.assertEqual(relay.get_state()["mode"], "none")

    def test_a_goal(self):
        relay = self.client()
        self.fails("nothing_to_do", relay.change_goal, "pause")
        self.fails("nothing_to_do", relay.set_goal, " ")
        relay.set_goal("all tests pass")
        self.fails("nothing_to_do", relay.set_goal, "another")
        self.assertEqual(relay.change_goal("pause")["goal"]["status"], "paused")
        self.assertEqual(relay.change_goal("resume")["goal"]["status"], "active")
        self.assertEqual(relay.change_goal("drop")["goal"]["status"], "dropped")
        self.fails("nothing_to_do", relay.change_goal, "drop")
        self.assertEqual(relay.get_state(include=["goal"])["goal"]["status"], "dropped")

    def test_replay_sends_events_again(self):
        self.script(text("ok"))
        relay = self.client()
        relay.run("go")
        last = relay.get_state()["lastSeq"]
        frames = Frames(relay)
        relay.replay(0)
        frames.wait(lambda f: f.get("seq") == last, "the last event")
        numbers = [f["seq"] for f in frames.seen if f["type"] == "event"]
        self.assertEqual(numbers, list(range(1, last + 1)))
        self.fails("invalid_params", relay.replay, last + 1)

    def test_wrong_answers_are_told(self):
        relay = self.client()
        self.fails("unknown_question", relay.answer_question, "q1", text="x")
        self.fails("unknown_gate", relay.workflow_gate_response, "g1", {})
        self.fails("unknown_command", relay.call, "promt", {"message": "x"})
        self.fails("invalid_params", relay.call, "prompt", {"massage": "x"})

    def test_the_end_of_the_input_is_the_end_of_relay(self):
        relay = self.client()
        self.assertEqual(relay.close(), 0)
        with self.assertRaises(RelayClosed):
            relay.get_state()

    def test_a_relay_that_cannot_start_says_why(self):
        self.models("oops: [")
        with self.assertRaises(RelayClosed) as caught:
            self.client()
        self.assertEqual(caught.exception.exit_code, 2)
        self.assertIn("models.yml", caught.exception.stderr)


if __name__ == "__main__":
    unittest.main()
