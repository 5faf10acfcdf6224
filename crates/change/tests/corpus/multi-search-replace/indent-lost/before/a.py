class A:
    def run(self):
        if ready:
            start()
        return 1
