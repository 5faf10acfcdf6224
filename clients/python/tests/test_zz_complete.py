"""Whether the tests before this one called every command and saw every event. Alone it has nothing to say."""

import unittest

from support import CALLED, SEEN
from relaycode import COMMANDS, EVENT_TYPES



class Complete(unittest.TestCase):
    def test_every_command_was_called(self):
        if len(CALLED) < len(COMMANDS) // 2:
            self.skipTest("the other tests did not run")
        self.assertEqual(sorted(set(COMMANDS) - CALLED), [])

    def test_every_event_was_seen(self):
        if len(SEEN) < len(EVENT_TYPES) // 2:
            self.skipTest("the other tests did not run")
        self.assertEqual(sorted(set(EVENT_TYPES) - SEEN), [])


if __name__ == "__main__":
    unittest.main()
