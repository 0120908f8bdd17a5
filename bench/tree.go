package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/hearken-dev/hearken/test/hubtest"
)

// benchTree counts what there is to read: for people the lines of code, for
// models the tokens of tools/list.
func benchTree(b *bench) {
	var product, bench, tests int
	files, err := exec.CommandContext(b.ctx, "git", "ls-files", "*.go").Output()
	b.check(err)
	for file := range strings.FieldsSeq(string(files)) {
		data, err := os.ReadFile(file)
		b.check(err)
		lines := bytes.Count(data, []byte("\n"))
		first, _, _ := strings.Cut(file, "/")
		switch {
		case strings.HasSuffix(file, "_test.go"), strings.HasSuffix(path.Dir(file), "test"), first == "test", first == "scripts":
			tests += lines
		case first == "bench":
			bench += lines
		default:
			product += lines
		}
	}
	b.report("lines of the program, without tests, tools and benchmarks", atMost(60_000), float64(product), "",
		fmt.Sprintf("tests and tools have %d", tests))
	b.report("lines of the benchmarks", atMost(4_000), float64(bench), "", "")

	h := b.hub(b.dataDir())
	agent := hubtest.StartStdio(b, h.Env, "", h.Bin, "--stdio")
	list := string(agent.Await(agent.Send("tools/list", map[string]any{})))
	modules, scripts := installScribePeers(b)
	b.report("tokens of tools/list, one for every 3.8 bytes", atMost(5_000), float64(len(list)*10/38), "",
		fmt.Sprintf("%d with o200k_base", countTokens(b, modules, scripts, []string{list})[0]))
}
