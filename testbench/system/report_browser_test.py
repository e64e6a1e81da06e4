"""The page of rnicsim report in a real browser: its contents, its controls, and that it makes no requests.

Screenshots go to the folder that SCREENSHOTS names.
"""
import itertools
import json
import os
import pathlib
import re
import unittest

import browser
from report_folders import ReportTest
from rnicsim import TRACES

SCREENSHOTS = pathlib.Path(os.environ.get("SCREENSHOTS", "screenshots"))
TITLES = "[...document.querySelectorAll('main h2')].map(h => h.textContent)"
HIDDEN_TIP = "document.querySelector('.tip').hidden"


def section(title):
    return f"[...document.querySelectorAll('main section')].find(s => s.dataset.title === {json.dumps(title)})"


class Page(ReportTest):
    @classmethod
    def setUpClass(cls):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.__exit__)

    def open(self, *folders, unfold=True):
        report = self.report(*folders)
        self.assertEqual(report.returncode, 0, report.stderr)
        self.browser.media("light")
        self.browser.open_report(self.folder / "report.html")
        self.run_script("window.scrollTo(0, 0)")
        self.draw_all()
        if unfold:
            self.unfold()

    def unfold(self):
        self.run_script("document.querySelectorAll('.folded:not([open]) > summary').forEach(s => s.click())")
        self.browser.settle()
        self.draw_all()

    def draw_all(self):
        self.run_script("document.querySelectorAll('.plot').forEach(p => p.dispatchEvent(new CustomEvent('draw')))")
        self.browser.media("light")

    def run_script(self, expression):
        return self.browser.run(expression)

    def click(self, element):
        self.run_script(f"{element}.click()")

    def count(self, selector):
        return self.run_script(f"document.querySelectorAll({json.dumps(selector)}).length")

    def column(self, table, index):
        return self.run_script(f"[...{table}.querySelectorAll('tbody tr')].map(r => r.children[{index}].textContent)")

    def assert_sound(self, name):
        """No errors, no requests, nothing cut off; takes the pictures."""
        self.assertEqual(self.browser.problems, [])
        self.assertEqual(self.run_script("performance.getEntriesByType('resource').map(r => r.name).filter(n => !n.startsWith('data:'))"), [])
        self.assertLessEqual(self.run_script("document.documentElement.scrollWidth"), 1280)
        self.assertEqual(self.run_script("[...document.querySelectorAll('*')].filter(e => /\\[object|undefined|NaN/.test("
                                         "[...e.childNodes].filter(n => n.nodeType === 3 && e.tagName !== 'SCRIPT' && e.tagName !== 'STYLE')"
                                         ".map(n => n.data).join(''))).map(e => e.outerHTML.slice(0, 200))"), [])
        self.assertNotIn("A section that could not be made", self.run_script(TITLES))
        self.assert_accessible()
        self.run_script("scrollTo({top: 0, behavior: 'instant'})")
        self.browser.settle()
        self.browser.screenshot(SCREENSHOTS / f"{name}.png")
        self.browser.media("dark")
        self.browser.screenshot(SCREENSHOTS / f"{name}-dark.png")
        self.browser.media("light", "print")
        self.browser.screenshot(SCREENSHOTS / f"{name}-print.png")
        self.browser.media("light")
        self.browser.print_pdf(SCREENSHOTS / f"{name}.pdf")
        self.assertEqual(self.browser.problems, [])

    def assert_accessible(self):
        unnamed = ("[...document.querySelectorAll('button, select, input, [role=img], [role=application], [role=region], svg:not([aria-hidden])')]"
                   ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map(e => e.outerHTML.slice(0, 200))")
        self.assertEqual(self.run_script(unnamed), [])
        self.assertEqual(self.run_script("[...document.querySelectorAll('main section')].filter(s => !document.getElementById(s.getAttribute('aria-labelledby'))).length"), 0)
        self.assertEqual(self.run_script("document.querySelectorAll('h1').length"), 1)
        self.assertEqual(self.run_script("(() => { const ids = [...document.querySelectorAll('[id]')].map(e => e.id); return ids.length - new Set(ids).size; })()"), 0)
        without_role = "[...document.querySelectorAll('[tabindex]:not([role]):not(main)')].map(e => e.outerHTML.slice(0, 200))"
        self.assertEqual(self.run_script(without_role), [])
        charts = "document.querySelectorAll('figure').length"
        tables = "[...document.querySelectorAll('figure')].filter(f => f.querySelector('details')).length"
        self.assertEqual(self.run_script(charts), self.run_script(tables), "a table behind each chart")

    def test_a_memory_with_a_cache_grows_in_its_home(self):
        self.full_run("out", "--set", "nodes.b.rnic.context.cache.cq.entries=4")
        self.open("out")
        memories = f"{section('Memories')}.querySelector('table')"
        cqs = [row for row, name in enumerate(self.column(memories, 0)) if name == "cq_table"]
        self.assertEqual([self.column(memories, 4)[row] for row in cqs], ["256", "7"], "four, and a spare place for each reader")
        self.assertEqual([self.column(memories, 8)[row] for row in cqs], ["9.3 KiB", "none on the chip"])
        self.assertEqual([self.column(memories, 13)[row] == "\u2013" for row in cqs], [True, False])

    def test_a_run(self):
        self.full_run("out", "--set", "rnic.fwcpu.log_level=4", "--set", "link.forward.loss.every=60", "--db", "out/run.sqlite")
        self.open("out", unfold=False)
        self.assertEqual(self.run_script(TITLES), [
            "Why", "Results", "Bottleneck", "Utilization", "Latency breakdown", "Sequence of a request", "Throughput and occupancy over time",
            "Time-sequence graph", "Latency distribution", "PCIe by purpose", "Occupancy", "Firmware timeline", "Memories", "Configuration", "Statistics"])
        self.assertEqual(self.count("main section table caption"), self.run_script("[...document.querySelectorAll('main section:not(:has(> .folded)) table caption')].length"), "what is folded is not made")
        self.unfold()
        self.assertIn("ORD limits", self.run_script("document.querySelector('main .headline').textContent"))
        self.assertEqual(self.column(f"{section('Results')}.querySelector('table')", 0), ["sends", "writes", "reads"])
        with self.subTest("parts of a bar fill it"):
            widths = self.run_script("[...document.querySelectorAll('.stack')].map(s => [...s.querySelectorAll('.part')]"
                                     ".reduce((sum, p) => sum + parseFloat(p.style.width), 0))")
            self.assertEqual(len(widths), 4)
            self.assertAlmostEqual(max(widths), 100, 1)
            self.assertAlmostEqual(widths[0], 100 * 15916.5 / 57528, 1)
        with self.subTest("the diagram"):
            label = "document.querySelector('.diagram g[aria-label^=\"{}:\"]').getAttribute('aria-label')"
            self.assertIn("75.8 % blocked", self.run_script(label.format("rdmap_segmenter")), "72000 of 95000 cycles with work")
            self.assertIn("33.2 % busy", self.run_script(label.format("payload_fetch")), "2.52 of 8 on average, 95 % of the time with work")
            self.assertEqual(self.count(".diagram"), 2)
            self.assertIn("1.3 % busy", self.run_script("document.querySelectorAll('.diagram')[1].querySelector('g[aria-label^=\"fwcpu:\"]').getAttribute('aria-label')"))
        with self.subTest("charts have drawn something"):
            self.assertGreaterEqual(self.count(".plot canvas"), 4)
            drawn = ("[...document.querySelectorAll('.plot canvas')].map(c => c.getContext('2d').getImageData(0, 0, c.width, c.height).data"
                     ".some((v, i) => i % 4 === 3 && v > 0))")
            self.assertTrue(all(self.run_script(drawn)))
        with self.subTest("an axis that fits the data"):
            fit = f"{section('Throughput and occupancy over time')}.querySelector('.fit input')"
            picture = f"{fit}.closest('figure').querySelector('canvas').toDataURL()"
            from_0 = self.run_script(picture)
            self.click(fit)
            self.browser.settle()
            self.assertNotEqual(self.run_script(picture), from_0)
            self.click(fit)
            self.browser.settle()
            self.assertEqual(self.run_script(picture), from_0)
        with self.subTest("what blocked means"):
            head = f"[...{section('Occupancy')}.querySelectorAll('thead th')].find(h => h.textContent.trim() === 'blocked')"
            self.run_script(f"{head}.dispatchEvent(new PointerEvent('pointermove', {{clientX: 100, clientY: 100}}))")
            self.assertIn("all are taken, and somebody waits for one", self.run_script("document.querySelector('.tip').textContent"))
            self.run_script(f"{head}.dispatchEvent(new PointerEvent('pointerleave'))")
        with self.subTest("shares in percent"):
            ratio = f"[...{section('Statistics')}.querySelectorAll('tbody tr')].filter(r => r.children[2].textContent === 'ratio').length"
            self.assertEqual(self.run_script(ratio), 0)
        with self.subTest("memories"):
            memories = f"{section('Memories')}.querySelector('table')"
            names = self.column(memories, 0)
            self.assertEqual(names[:12], ["page_table", "stag_table", "cq_table", "tx_table", "rx_table", "sqc_table",
                                          "sq_table", "rq_table", "srq_table", "irrq_table", "orq_table", "flow_rx_table"])
            self.assertEqual(names[:len(names) // 2], names[len(names) // 2:], "of both nodes")
            requests = names.index("irrq.requests")
            self.assertEqual([self.column(memories, column)[requests] for column in (2, 4, 6, 11)], ["8\u202f192", "8\u202f192", "\u2013", "\u2013"])
            self.assertEqual(self.column(memories, 7)[0], "128", "4,096 rows of four addresses of 64 bits")
            self.assertEqual(self.column(memories, 8)[0], "128.0 KiB")
        with self.subTest("PCIe by purpose"):
            pcie = f"{section('PCIe by purpose')}.querySelector('table')"
            purposes, nodes, directions, shares = (self.column(pcie, column) for column in (0, 1, 2, 6))
            self.assertEqual(purposes[:6], ["register", "WQE", "payload", "CQE", "event", "interrupt"])
            self.assertEqual(set(zip(nodes, directions)), {(node, way) for node in "ab" for way in ("device to host", "host to device")})
            of_one = [float(share.split("\u202f")[0].removesuffix(" %")) for share, *where in zip(shares, nodes, directions) if where == ["a", "device to host"]]
            self.assertAlmostEqual(sum(of_one), 100, delta=0.05 * len(of_one))
        with self.subTest("the sequence of a request"):
            sequence = section("Sequence of a request")
            dots = self.run_script(f"{sequence}.querySelectorAll('.dot').length")
            self.assertGreaterEqual(dots, 5)
            lanes = self.run_script(f"[...{sequence}.querySelectorAll('text.lane')].map(t => t.textContent)")
            self.assertIn("tx", lanes)
            self.assertEqual(self.run_script(f"[...{sequence}.querySelectorAll('text.node')].map(t => t.textContent)"), ["node a", "node b"])
            self.sequence_is_readable(sequence)
            label = self.run_script(f"{sequence}.querySelector('svg[role=img]').getAttribute('aria-label')")
            self.run_script(f"(() => {{ const s = {sequence}.querySelector('select'); s.selectedIndex = s.selectedIndex === 1 ? 0 : 1; s.dispatchEvent(new Event('change')); }})()")
            self.assertNotEqual(self.run_script(f"{sequence}.querySelector('svg[role=img]').getAttribute('aria-label')"), label)
        with self.subTest("commands of the firmware"):
            self.assertGreaterEqual(self.run_script(f"{section('Firmware timeline')}.querySelectorAll('rect.mark').length"), 10)
        with self.subTest("settings that were changed"):
            settings = self.column(f"{section('Configuration')}.querySelector('table')", 0)
            self.assertIn("link.forward.loss.every", settings)
            self.assertNotIn("link.delay_ns", settings)
        self.sort()
        self.tooltips()
        self.keyboard()
        self.assert_sound("run")

    def sequence_is_readable(self, sequence):
        """Lanes of 150 px, names that stay in view, and arrows between events of one FPDU, or from and to the whole request."""
        self.run_script(f"""(() => {{
          const s = {sequence}.querySelector('select');
          for (let i = 0; i < s.options.length && {sequence}.querySelectorAll('.dot').length < 100; ++i) {{
            s.selectedIndex = i;
            s.dispatchEvent(new Event('change'));
          }}
        }})()""")
        lanes = self.run_script(f"[...{sequence}.querySelectorAll('.life')].map(l => l.getBoundingClientRect().x)")
        self.assertGreaterEqual(min(b - a for a, b in itertools.pairwise(lanes)), 150)
        box = f"{sequence}.querySelector('.sequence-box')"
        self.assertLessEqual(self.run_script(f"{box}.clientHeight"), 0.7 * self.run_script("innerHeight"))
        self.assertGreater(self.run_script(f"{box}.scrollHeight - {box}.clientHeight"), 200, "there is something to scroll")
        apart = f"{sequence}.querySelector('.heads').getBoundingClientRect().y - {box}.getBoundingClientRect().y"
        before = self.run_script(apart)
        self.run_script(f"{box}.scrollTo(0, 150)")
        self.assertEqual(self.run_script(apart), before)
        self.run_script(f"{box}.scrollTo(0, 0)")
        heads = self.run_script(f"[...{sequence}.querySelectorAll('.heads .lane')].map(t => [Number(t.getAttribute('x')) + 4, t.textContent])")
        lanes = self.run_script(f"[...{sequence}.querySelectorAll('.dot')].map(d => [d.nextElementSibling.textContent.split(' ')[0].split(',')[0], Number(d.getAttribute('cx'))])")
        for kind, lane in ("framed", "tx"), ("frame_sent", "wire"), ("frame_received", "wire"), ("fpdu_received", "rx"), ("tlp_read", "pcie"), ("posted", "host"):
            self.assertEqual({dict(heads)[x] for name, x in lanes if name == kind}, {lane}, kind)
        names = self.run_script(f"""(() => {{
          const name = new Map([...{sequence}.querySelectorAll('.dot')].map(d => [d.getAttribute('cy'), d.nextElementSibling.textContent]));
          return [...{sequence}.querySelectorAll('.message')].map(m => [name.get(m.getAttribute('y1')), name.get(String(Number(m.getAttribute('y2')) + 1))]);
        }})()""")
        self.assertGreater(len(names), 20)
        fpdu = [[re.search(r"#(\d+)$", end) for end in ends] for ends in names]
        self.assertEqual([ends for ends, (one, other) in zip(names, fpdu) if one and other and one[1] != other[1]], [])
        self.assertGreater(sum(bool(one and other) for one, other in fpdu), 15)

    def sort(self):
        with self.subTest("sorting"):
            table = f"{section('Results')}.querySelector('table')"
            heads = f"[...{table}.querySelectorAll('thead button')]"
            count = f"{heads}.find(b => b.textContent.startsWith('payload'))"
            def payload():
                return [int(v.replace("\u202f", "")) for v in self.column(table, 3)]
            self.click(count)
            self.assertEqual(self.run_script(f"{count}.closest('th').getAttribute('aria-sort')"), "descending")
            self.assertEqual(payload(), sorted(payload(), reverse=True))
            self.click(count)
            self.assertEqual(payload(), sorted(payload()))
            name = f"{heads}.find(b => b.textContent.startsWith('work'))"
            self.click(name)
            self.assertEqual(self.column(table, 0), ["reads", "sends", "writes"])
            self.assertIsNone(self.run_script(f"{count}.closest('th').getAttribute('aria-sort')"))
        with self.subTest("filter and all rows"):
            self.run_script(f"{section('Statistics')}.querySelector('details').open = true")
            self.browser.wait_for(f"{section('Statistics')}.querySelector('input') !== null")
            self.run_script(f"(() => {{ const i = {section('Statistics')}.querySelector('input'); i.value = 'a.rnic.tcp_tx.retrans OCTETS';"
                            "i.dispatchEvent(new Event('input')); })()")
            self.assertEqual(self.column(f"{section('Statistics')}.querySelector('table')", 0),
                             ["a.rnic.tcp_tx.retransmitted_bytes"])
            self.run_script(f"{section('Statistics')}.querySelector('details').open = false")
        with self.subTest("download"):
            self.run_script("window.saved = []; HTMLAnchorElement.prototype.click = function () { window.saved.push([this.download, this.href]); }")
            self.click(f"{section('Results')}.querySelector('.action')")
            self.assertEqual(self.run_script("window.saved[0][0]"), "results.csv")
            text = self.run_script("new Promise(done => { const r = new XMLHttpRequest(); done(window.saved[0][1].slice(0, 5)); })")
            self.assertEqual(text, "blob:")

    def tooltips(self):
        with self.subTest("a tip under the pointer"):
            self.run_script("document.querySelector('.part').scrollIntoView({block: 'center', behavior: 'instant'})")
            self.browser.settle()
            x, y = self.run_script("(() => { const b = document.querySelectorAll('.part')[4].getBoundingClientRect(); return [b.x + b.width / 2, b.y + 5]; })()")
            self.browser.hover(x, y)
            self.assertFalse(self.run_script(HIDDEN_TIP))
            self.assertIn("rdmap_segmenter queue", self.run_script("document.querySelector('.tip').textContent"))
            self.browser.hover(2, 2)
            self.assertTrue(self.run_script(HIDDEN_TIP))
        with self.subTest("a tip of a chart"):
            over = f"{section('Throughput and occupancy over time')}.querySelector('.u-over')"
            self.run_script(f"{over}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
            self.browser.settle()
            x, y = self.run_script(f"(() => {{ const b = {over}.getBoundingClientRect(); return [b.x + b.width * 0.4, b.y + b.height / 2]; }})()")
            self.browser.hover(x, y)
            self.browser.wait_for(f"!{HIDDEN_TIP}")
            text = self.run_script("document.querySelector('.tip').textContent")
            self.assertIn("a.tx.payload", text)
            self.assertIn("8.1", text)
            self.browser.hover(2, 2)

    def keyboard(self):
        with self.subTest("the first key leads to the content"):
            self.run_script("window.scrollTo(0, 0); document.activeElement.blur()")
            self.browser.key("Tab")
            self.assertEqual(self.run_script("document.activeElement.className"), "skip")
            self.browser.key("Enter", "\r")
            self.assertEqual(self.run_script("location.hash"), "#content")
        with self.subTest("a chart is read by arrow keys"):
            self.run_script(f"{section('Throughput and occupancy over time')}.querySelector('.plot').focus()")
            for _ in range(3):
                self.browser.key("ArrowRight")
            said = self.run_script("document.querySelector('[aria-live]').textContent")
            self.assertIn("30", said)
            self.assertIn("a.tx.payload 8.1", said)
            self.browser.key("+", "+")
            self.assertFalse(self.run_script(f"{section('Throughput and occupancy over time')}.querySelector('.below button').hidden"))
            self.browser.key("Escape")
            self.assertTrue(self.run_script(HIDDEN_TIP))
        with self.subTest("a heading is sorted by a key"):
            button = f"{section('Occupancy')}.querySelector('thead button')"
            self.run_script(f"{button}.focus()")
            self.browser.key("Enter", "\r")
            self.assertEqual(self.run_script(f"{button}.closest('th').getAttribute('aria-sort')"), "ascending")

    def verdict(self, scenario, *options, codes=(0,)):
        self.run_scenario(scenario, *options, codes=codes)
        self.open("out", unfold=False)
        return self.run_script("document.querySelector('.verdict').firstChild.data")

    def test_the_verdict_is_that_of_the_exit_code(self):
        self.assertEqual(self.verdict(self.small_scenario()), "Done; its check passed")
        self.assertEqual(self.verdict(TRACES / "errors/ddp_bounds.json"), "Done; its check passed", "it expects the error")
        lost = ",".join(str(n) for n in range(100, 400))
        hang = self.verdict(self.small_scenario(), "--set", f"link.forward.loss.frames={lost}", "--set", "sim.max_time_us=1000", codes=(3,))
        self.assertEqual(hang, "Failed: incomplete: time limit; 1 of 1 checks failed; 3 of 3 work items failed")

    def test_a_phase_is_chosen_for_all(self):
        stats = self.small_run("out")
        self.open("out")
        label = "document.querySelector('.diagram g[aria-label^=\"mpa_framer:\"]').getAttribute('aria-label')"
        resources = f"[...{section('Occupancy')}.querySelectorAll('tbody tr')].map(r => [r.children[1].textContent, r.children[0].textContent, r.children[6].textContent])"
        whole = self.run_script(f"[{label}, document.querySelector('.headline').textContent, {resources}]")
        self.assertEqual(len(stats["phases"]), 3)
        self.assertEqual(self.column(f"{section('Bottleneck')}.querySelector('table')", 0), [p["name"] for p in stats["phases"]])
        def choose(value):
            self.run_script(f"(() => {{ const s = document.querySelector('.phase select'); s.value = '{value}'; s.dispatchEvent(new Event('change')); }})()")
        for i, phase in enumerate(stats["phases"]):
            with self.subTest(phase["name"]):
                choose(i)
                self.assertEqual(self.run_script("document.querySelector('.headline').textContent"), phase["bottleneck"]["line"].removeprefix("bottleneck: "))
                self.assertIn(f"{100 * phase['utilization']['transmit datapath, a']:.1f} % busy", self.run_script(label))
                busy = {(o["node"], o["name"]): o["busy_cycles"] / o["cycles"] for o in phase["occupancy"]}
                shown = self.run_script(resources)
                self.assertEqual(len(shown), min(25, len(busy)))
                for node, name, share in shown:
                    self.assertEqual(share, f"{100 * busy[node, name]:.1f} %", name)
        choose("")
        self.assertEqual(self.run_script(f"[{label}, document.querySelector('.headline').textContent, {resources}]"), whole)

    def test_why(self):
        self.small_run("out", "--set", "link.forward.loss.frames=100,200", "--stats-every", "10us", "--set", "rnic.fwcpu.log_level=4", "--db", "out/run.sqlite")
        self.open("out")
        told = self.run_program("explain", "out", "--why").stdout
        cards = self.run_script(f"[...{section('Why')}.querySelectorAll('.card')].map(c => [c.querySelector('.cause')?.textContent ?? null, c.querySelectorAll('tbody tr').length])")
        causes = [re.sub(r" \[(.*)\]$", r" \1", line.strip()) for line in told.splitlines() if "CAUSE" in line]
        self.assertEqual([cause for cause, _ in cards if cause], [re.sub("CAUSE +", "CAUSE ", cause) for cause in causes])
        self.assertEqual(sum(rows for _, rows in cards), len(re.findall(r"^ +[\d.]+  [ab]  ", told, re.M)))
        with self.subTest("a click moves the panels to its time"):
            last = f"[...{section('Why')}.querySelectorAll('.card')].filter(c => c.querySelector('.action')).pop()"
            self.click(f"{last}.querySelector('.action')")
            zoomed = f"[...document.querySelectorAll('.chart .below button')].filter(b => !b.hidden).length"
            charts = self.run_script(f"{section('Throughput and occupancy over time')}.querySelectorAll('.plot canvas').length")
            self.assertGreater(charts, 5)
            self.assertGreaterEqual(self.run_script(zoomed), charts)
            self.assertEqual(self.run_script("document.querySelector('rect.moment').style.display"), "")
            begin, width, end = self.run_script("['x', 'width'].map(a => Number(document.querySelector('rect.moment').getAttribute(a))).concat(1000)")
            self.assertTrue(150 <= begin < begin + width <= end)
            self.click(f"{section('Why')}.querySelector('.tools .action')")
            self.assertEqual(self.run_script(zoomed), 0)
        self.assert_sound("why")

    def test_a_run_with_little(self):
        self.small_run("out", "--no-capture")
        self.open("out")
        said = self.run_script("[...document.querySelectorAll('.missing')].map(m => m.textContent).join(' ')")
        for option in ("--stats-every", "--db", "--no-capture", "rnic.fwcpu.log_level=4"):
            self.assertIn(option, said)
        self.assert_sound("run-little")

    def test_data_of_another_form(self):
        stats = self.full_run("out")
        for name, value in (("results", None), ("results", [{}]), ("bottleneck", "ORD"), ("occupancy", {"a": 1}), ("latency_breakdown", [{}]),
                            ("utilization", []), ("config", None), ("stats", None), ("checks", "none"), ("versions", None)):
            with self.subTest(name=name, value=value):
                self.write("out/stats.json", {**stats, name: value})
                report = self.run_program("report", "out", "-o", "page.html")
                self.assertEqual(report.returncode, 2, report.stderr)
                self.assertIn(f": {name}", report.stderr)
        self.write("out/stats.json", {**stats, "config": {}})
        self.open("out")
        self.assertEqual(self.browser.problems, [])
        self.assertIn("Bottleneck", self.run_script(TITLES), "the other sections are there")
        self.write("out/stats.json", {})
        self.open("out")
        self.assertNotIn("A section that could not be made", self.run_script(TITLES), "what is missing is no mistake")
        self.assertEqual(self.browser.problems, [])

    def test_a_comparison(self):
        self.full_run("base")
        self.full_run("jumbo", "--set", "rnic.tcp.mtu=9000")
        self.open("base", "jumbo")
        self.assertEqual(self.run_script(TITLES), ["Bottlenecks", "Results", "Configuration", "Utilization", "Occupancy", "Latency",
                                                   "Over time", "Statistics"])
        self.assertEqual(self.column(f"{section('Configuration')}.querySelector('table')", 0), ["rnic.tcp.mtu"])
        heads = self.run_script(f"[...{section('Results')}.querySelectorAll('thead th')].map(h => h.textContent)")
        self.assertEqual(heads, ["work", "figure", "unit", "base", "jumbo", "change"])
        changes = self.column(f"{section('Results')}.querySelector('table')", 5)
        self.assertTrue(any(c.startswith("+") for c in changes), changes)
        self.assertEqual(self.count(".stack"), 4)
        self.assert_sound("comparison")

    def test_a_sweep(self):
        self.small_sweep("swept")
        summary = json.loads((self.folder / "swept/sweep.json").read_text())
        for n, point in enumerate(summary["points"]):
            point["bottleneck"] = {"name": "window" if n >= 4 else "wire"}
        summary["axes"] = [{"keys": ["link.delay_ns"], "title": "delay", "values": [100, 1000, 10000], "labels": ["100 ns", "1 us", "10 us"]},
                           {"keys": ["rnic.tcp.mtu"], "title": "MTU", "values": [1500, 9000], "labels": ["1500", "9000"]}]
        self.write("swept/sweep.json", summary)
        self.open("swept")
        self.assertEqual(self.run_script(TITLES), ["What limits", "Over each axis", "Over two axes", "Pareto front", "All points"])
        self.assertEqual(self.column(f"{section('What limits')}.querySelector('table')", 0), ["wire", "window"])
        with self.subTest("strips with several limiters"):
            shares = self.run_script(f"[...{section('What limits')}.querySelectorAll('.strip')].map(s => [...s.querySelectorAll('.shares span')].map(b => parseFloat(b.style.width)))")
            self.assertEqual(shares, [[100], [100], [33.33, 66.67]], "delay: two cells of one limiter each; MTU: one with both")
        with self.subTest("lines"):
            titles = self.run_script(f"[...{section('Over each axis')}.querySelectorAll('figcaption')].map(c => c.textContent)")
            self.assertEqual([t.split(" over ")[1] for t in titles], ["delay", "MTU"])
        with self.subTest("another measure"):
            choice = f"{section('Over each axis')}.querySelector('select')"
            self.run_script(f"(() => {{ const s = {choice}; s.selectedIndex = 2; s.dispatchEvent(new Event('change')); }})()")
            self.assertIn("rate", self.run_script(f"{section('Over each axis')}.querySelector('figcaption').textContent"))
            self.draw_all()
        with self.subTest("heat map"):
            cells = self.run_script(f"[...{section('Over two axes')}.querySelectorAll('tbody tr')].map(r => r.querySelectorAll('td').length)")
            self.assertEqual(cells, [2, 2, 2])
        with self.subTest("the points, sorted"):
            points = f"{section('All points')}.querySelector('table')"
            self.assertEqual(len(self.column(points, 0)), 6)
            button = f"[...{points}.querySelectorAll('thead button')].find(b => b.textContent.startsWith('MTU'))"
            self.click(button)
            self.assertEqual([v.replace("\u202f", "") for v in self.column(points, 2)], ["9000"] * 3 + ["1500"] * 3)
        with self.subTest("download"):
            self.run_script("window.blobs = []; URL.createObjectURL = (b) => { window.blobs.push(b); return 'blob:x'; }; HTMLAnchorElement.prototype.click = () => {}")
            self.click(f"{section('All points')}.querySelector('.action')")
            lines = self.run_script("window.blobs[0].text()").split("\r\n")
            self.assertEqual(len([line for line in lines if line]), 7)
            self.assertTrue(lines[0].startswith("point,delay,MTU"), lines[0])
        self.assert_sound("sweep")


    def test_a_sweep_over_seeds(self):
        """The Pareto front is one of means, with their intervals."""
        self.small_sweep("swept")
        summary = json.loads((self.folder / "swept/sweep.json").read_text())
        summary["axes"] = [{"keys": ["link.delay_ns"], "title": "delay", "values": [100, 1000, 10000], "labels": ["100", "1000", "10000"]},
                           {"keys": ["rnic.tcp.mtu"], "title": "seed", "values": [1500, 9000], "labels": ["1", "2"], "mean": True}]
        for n, point in enumerate(summary["points"]):
            point["columns"] = {"cost": 10 ** (n // 2), "gain": 7 - n}
        self.write("swept/sweep.json", summary)
        self.open("swept")
        pareto = section("Pareto front")
        for which, option in (0, "cost"), (2, "gain"):
            self.run_script(f"""(() => {{ const s = {pareto}.querySelectorAll('select')[{which}];
                s.value = [...s.options].find(o => o.text === '{option}').value; s.dispatchEvent(new Event('change')); }})()""")
        self.run_script(f"(() => {{ const s = {pareto}.querySelectorAll('select')[1]; s.value = 'less'; s.dispatchEvent(new Event('change')); }})()")
        self.draw_all()
        table = f"{pareto}.querySelector('.tabular table')"
        self.assertEqual(self.run_script(f"[...{table}.querySelectorAll('thead th')].map(h => h.textContent)"), ["delay", "cost", "\u00b1", "gain", "\u00b1"])
        self.assertEqual([self.column(table, i) for i in range(5)], [["100"], ["1"], ["0"], ["6.500"], ["6.353"]], "of two seeds: t of one degree of freedom, 12.706")
        self.assertIn("1 of 3 points", self.run_script(f"{pareto}.querySelector('.plot').getAttribute('aria-label')"))
        self.assertIn("confidence intervals", self.run_script(f"{pareto}.textContent"))
        self.assert_sound("sweep-seeds")


if __name__ == "__main__":
    if browser.program() is None:
        raise SystemExit("no browser: scripts/setup.sh --tests installs chromium")
    unittest.main()
