package a

func run() {
	if ready {
		start()
	}
}
