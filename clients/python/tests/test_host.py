"""What the program brings: tools, files, answers; with both clients."""

import asyncio
import os
import threading
import unittest

from support import Frames, NotingAsyncClient, NotingClient, RelayCase, call, text

NUMBER = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}


class Host(RelayCase):
    def client(self, *args):
        client = NotingClient(**self.options(*args))
        self.addCleanup(client.close)
        return client

    def results(self):
        return self.sent()[-1]

    def test_a_tool_of_the_program(self):
        seen = []

        def ticket(arguments, tool_call):
            seen.append(arguments)
            tool_call.update("looking")
            return f"ticket {arguments['number']}: wrong total"

        self.script(call("ticket", number=17), text("done"))
        relay = self.client()
        frames = Frames(relay)
        self.assertIn("ticket", relay.add_tool("ticket", "Reads a ticket.", NUMBER, ticket, read_only=True))
        self.assertEqual(relay.run("read it"), "done")
        self.assertEqual(seen, [{"number": 17}])
        self.assertIn("ticket 17: wrong total", self.results())
        self.assertEqual(frames.event("tool_execution_update")["update"]["tail"], "looking")

    def test_a_tool_that_fails_takes_too_long_or_brings_an_image(self):
        def slow(_, tool_call):
            while not tool_call.cancelled:
                pass
            return "too late"

        def broken(*_):
            raise ValueError("no such ticket")

        png = {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}
        self.script(
            {"tool_calls": [{"name": n, "arguments": {}} for n in ("slow", "broken", "picture")]}, text("done")
        )
        relay = self.client()
        frames = Frames(relay)
        empty = {"type": "object", "properties": {}}
        relay.add_tool("slow", "Never ends.", empty, slow, timeout_ms=50)
        relay.add_tool("broken", "Fails.", empty, broken)
        relay.add_tool("picture", "An image.", empty, lambda *_: {"content": [{"type": "text", "text": "see"}, png]})
        relay.run("call them")
        frames.frame("host_tool_cancel")
        sent = self.results()
        self.assertIn("`slow` gave no answer within 0.05 s", sent)
        self.assertIn("no such ticket", sent)
        self.assertIn("iVBORw0KGgo=", sent)

    def test_abort_ends_a_call_that_the_program_works_on(self):
        calls = []

        def slow(_, tool_call):
            calls.append(tool_call)
            while not tool_call.cancelled:
                pass

        self.script(call("slow"))
        relay = self.client()
        frames = Frames(relay)
        relay.add_tool("slow", "Never ends.", {"type": "object", "properties": {}}, slow)
        relay.prompt("go")
        frames.frame("host_tool_call")
        relay.abort()
        frames.frame("host_tool_cancel")
        self.assertEqual(frames.event("agent_end")["reason"], "aborted")

    def test_files_of_the_program(self):
        notes = {"notes://today": "buy milk\n"}
        self.script(
            call("read", path="notes://today"), call("write", path="notes://new", content="x"),
            call("read", path="notes://none"), call("write", path="fixed://a", content="x"), text("done"),
        )
        relay = self.client()
        frames = Frames(relay)
        relay.serve_files("notes", lambda url: notes[url], notes.__setitem__)
        relay.serve_files("fixed", lambda url: "fixed")
        relay.run("look")
        frames.frame("host_uri_request")
        sent = self.results()
        self.assertIn("buy milk", sent)
        self.assertEqual(notes["notes://new"], "x")
        self.assertIn("`notes://none`: 'notes://none'", sent)
        self.assertIn("`fixed://a` can only be read", sent)

    def test_a_file_that_is_waited_for_is_given_up_with_the_run(self):
        free = threading.Event()
        self.script(call("read", path="notes://slow"))
        relay = self.client()
        frames = Frames(relay)
        relay.serve_files("notes", lambda url: free.wait(60))
        relay.prompt("go")
        frames.frame("host_uri_request")
        relay.abort()
        frames.frame("host_uri_cancel")
        free.set()

    def test_questions_are_answered_or_take_their_default(self):
        ask = {"id": "c", "question": "Which colour?", "options": [{"label": "red"}, {"label": "blue"}], "recommended": 0}
        self.script(call("ask", questions=[ask]), text("done"), call("ask", questions=[ask]), text("done"))
        relay = self.client()
        frames = Frames(relay)
        relay.on_question(lambda question: 1)
        relay.run("ask me")
        self.assertEqual(frames.event("question_asked")["question"]["options"][:2], ["red (Recommended)", "blue"])
        frames.event("question_answered")
        self.assertIn("blue", self.results())
        relay.on_question(lambda question: None, timeout_ms=50)
        relay.run("ask me again")
        self.assertIn("red", self.results().rsplit("ask me again", 1)[1])

    def test_a_rule_asks_the_program_and_without_an_answer_nothing_happens(self):
        self.config('permissions:\n  ask: ["tool find"]\n')
        self.script(*[call("find", paths=["*.txt"]), text("done")] * 3)
        relay = self.client()
        relay.run("nobody is there")
        self.assertIn("there is nobody to ask", self.results())
        relay.on_question(lambda question: question["options"].index("once"))
        relay.run("yes")
        self.assertIn("a.txt", self.results().rsplit('"yes"', 1)[-1])
        relay.on_question(lambda question: None, timeout_ms=50)
        relay.run("no answer")
        self.assertIn("the user said no", self.results())

    def test_a_change_is_decided_by_the_program_and_never_by_time(self):
        turns = [call("write", path=f"{name}.txt", content="x\n") for name in ("none", "late", "no", "other", "yes")]
        self.script(*[turn for pair in zip(turns, [text("done")] * 5) for turn in pair])
        relay = self.client("--access", "ask")
        frames = Frames(relay)
        exists = lambda name: os.path.exists(os.path.join(self.project, name + ".txt"))
        relay.run("nobody is there")
        self.assertFalse(exists("none"))
        relay.on_gate(lambda gate: None, timeout_ms=50)
        relay.run("too late")
        self.assertFalse(exists("late"))
        self.assertEqual(frames.frame("workflow_gate_closed")["status"], "timed_out")
        relay.on_gate(lambda gate: {"approve": False, "digest": gate["context"]["digest"], "reason": "not now"})
        relay.run("no")
        self.assertFalse(exists("no"))
        self.assertIn("not now", self.results())
        receipts = []

        def decide(gate):
            self.assertEqual(gate["context"]["files"][0]["path"], "other.txt")
            wrong = {"approve": True, "digest": "0" * 64}
            receipts.append(relay.workflow_gate_response(gate["gate_id"], wrong))
            return {"approve": False, "digest": gate["context"]["digest"]}

        relay.on_gate(decide)
        relay.run("a yes to something else")
        self.assertFalse(exists("other"))
        self.assertEqual(receipts[0]["status"], "rejected")
        self.assertIn("digest", receipts[0]["errors"][0])
        relay.on_gate(lambda gate: {"approve": True, "digest": gate["context"]["digest"]})
        relay.run("yes")
        self.assertTrue(exists("yes"))

    def test_a_guarded_file_is_asked_about_with_its_reason(self):
        self.script(call("write", path=".github/workflows/ci.yml", content="on: push\n"), text("done"))
        relay = self.client()
        gates = []

        def decide(gate):
            gates.append(gate)
            return {"approve": False, "digest": gate["context"]["digest"]}

        relay.on_gate(decide)
        relay.run("change CI")
        self.assertEqual(gates[0]["context"]["reasons"][0]["rule"], "guarded")
        self.assertFalse(os.path.exists(os.path.join(self.project, ".github")))


class AsyncHost(RelayCase):
    def test_the_same_with_asyncio(self):
        async def main():
            async with NotingAsyncClient(**self.options("--access", "ask")) as relay:

                async def ticket(arguments, tool_call):
                    await asyncio.sleep(0)
                    tool_call.update("looking")
                    return f"ticket {arguments['number']}"

                async def decide(gate):
                    return {"approve": True, "digest": gate["context"]["digest"]}

                await relay.add_tool("ticket", "Reads a ticket.", NUMBER, ticket)
                await relay.serve_files("notes", lambda url: "a note")
                await relay.on_gate(decide)
                await relay.on_question(lambda question: 0)
                await relay.on_hook(["session_before_switch"], lambda hook, data: True)
                kinds = [f["event"]["type"] async for f in relay.stream("go") if f["type"] == "event"]
                self.assertEqual((kinds[0], kinds[-1]), ("agent_start", "agent_end"))
                self.assertEqual(await relay.run("and now?"), "last")
                state = await relay.get_state(include=["tools"])
                self.assertIn("ticket", state["tools"])
                await relay.new_session()
                ran = await relay.bash("true")
                self.assertFalse(ran["cancelled"])
                return await relay.close()

        self.script(
            call("ticket", number=3), call("read", path="notes://x"), call("write", path="b.txt", content="x\n"),
            text("done"), text("last"),
        )
        self.assertEqual(asyncio.run(main()), 0)
        self.assertEqual(self.read("b.txt"), "x\n")
        sent = self.sent()[-1]
        self.assertIn("ticket 3", sent)
        self.assertIn("a note", sent)


if __name__ == "__main__":
    unittest.main()
