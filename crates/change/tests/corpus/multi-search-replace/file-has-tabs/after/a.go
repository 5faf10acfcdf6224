package a

func run() {
	if ready {
		prepare()
		start()
	}
}
