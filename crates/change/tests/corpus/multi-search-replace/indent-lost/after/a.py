class A:
    def run(self):
        if ready and able:
            prepare()
            start()
        return 1
