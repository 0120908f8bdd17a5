package main

// terminalName is the terminal that the program runs in.
const terminalName = "CONIN$"
