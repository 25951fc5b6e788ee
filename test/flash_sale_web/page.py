"""Drives the page of the flash sale in Chromium: reads its figures, presses every button, and checks
that nothing is left when the program has ended."""

import argparse
import contextlib
import http.client
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 40  # seconds, for a busy machine; each wait ends as soon as it can
given = None


def children_of(pid):
    """All processes below one, by number."""
    found = []
    for child in subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True,
                                text=True).stdout.split():
        found += [int(child), *children_of(int(child))]
    return found


def runs(pid):
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rsplit(")", 1)[1].split()[0] != "Z"


class Sale:
    """The program, with a folder for temporary files of its own."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory(prefix="holdfast-page-")
        os.chmod(self.folder.name, 0o755)  # PostgreSQL runs as another user, if this is root
        self.process = subprocess.Popen(
            [given.program, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": self.folder.name})

    def address(self):
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/", line)
        if not found:
            raise AssertionError("the program did not start: " + line + self.process.stderr.read())
        return found.group()

    def left_behind(self):
        return os.listdir(self.folder.name)

    def end(self):
        """Asks it to end, as Ctrl-C does. Returns its exit status, its output, and the processes
        that are left."""
        family = children_of(self.process.pid)
        self.process.send_signal(signal.SIGINT)
        output, _ = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, output, [pid for pid in family if runs(pid)]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        self.folder.cleanup()


class Page:
    """The page, as a visitor sees it."""

    def __init__(self, address):
        options = webdriver.ChromeOptions()
        options.binary_location = given.chromium
        for option in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage",
                       "--disable-background-networking", "--no-proxy-server",
                       "--disable-component-update", "--no-first-run"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(given.driver), options=options)
        self.driver.set_window_size(1280, 900)
        self.driver.get(address)

    def text(self, selector):
        return self.driver.execute_script(
            "return document.querySelector(arguments[0]).innerText", selector)

    def number(self, selector):
        return int(self.text(selector).replace(",", ""))

    def press(self, selector):
        self.wait(lambda: self.driver.find_element(By.CSS_SELECTOR, selector).is_enabled(),
                  "can be pressed: " + selector)
        self.driver.execute_script("document.querySelector(arguments[0]).click()", selector)

    def wait(self, condition, what):
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.1).until(
            lambda _: condition(), message=what)

    def state(self, row, words):
        self.wait(lambda: self.text(row + " .pill") == words, f"{row} is {words}")

    def log_has(self, words):
        self.wait(lambda: words in self.text("#news"), "the log has: " + words)

    def screenshot(self, name, width, scheme):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500})
        self.driver.execute_script("window.scrollTo(0, 0)")
        height = self.driver.execute_script("return document.documentElement.scrollHeight")
        wide = self.driver.execute_script("return document.documentElement.scrollWidth")
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        time.sleep(0.5)  # the chart is drawn for the new size with the next figures
        self.driver.save_screenshot(str(given.screenshots / (name + ".png")))
        return wide

    def complaints(self):
        return [entry for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


class Visit(unittest.TestCase):
    """One visit: the steps build on each other."""

    def setUp(self):
        self.sale = Sale("--seconds=1", "--stock=600", "--nodes=3", "--servers=3", "--buyers=24")
        self.addCleanup(self.sale.close)
        self.address = self.sale.address()
        self.page = Page(self.address)
        self.addCleanup(self.page.driver.quit)

    def test_visit(self):
        for step in (self.sells_under_the_lock, self.survives_the_loss_of_a_node,
                     self.survives_a_cut_network, self.survives_a_frozen_server,
                     self.oversells_without_the_lock, self.compares_strategies,
                     self.fits_all_screens, self.obeys_only_its_own_page, self.leaves_nothing):
            began = time.monotonic()
            step()
            print(f"{step.__name__}: {time.monotonic() - began:.1f} s", flush=True)

    def sold(self, card="#with-lock"):
        return int(re.match(r"[\d,]+|$", self.page.text(card + " [data-words]")).group()
                   .replace(",", "") or 0)

    def goes_on_selling(self):
        before = self.sold()
        self.page.wait(lambda: self.sold() > before + 30, "the sale goes on")

    def nothing_is_oversold(self):
        self.assertEqual(self.page.number("#with-lock [data-oversold]"), 0)

    def sells_under_the_lock(self):
        page = self.page
        page.wait(lambda: page.text("#live") == "live", "the page is live")
        page.wait(lambda: page.text("#rate") not in ("–", "0"), "there is a rate")
        self.goes_on_selling()
        self.assertIn("under the fenced lock", page.text("#mode"))
        self.assertTrue(0 <= page.number("#stock") <= 600)
        page.wait(lambda: page.number("#waiting") > 0, "orders wait")
        page.wait(lambda: page.number("#granted") > 0, "leases are granted")
        page.wait(lambda: page.driver.find_elements(By.CSS_SELECTOR, "#chart .line-with"), "a line")
        for node in (1, 2, 3):
            page.state(f"#nodes .row:nth-child({node})", "up")
        self.nothing_is_oversold()

    def survives_the_loss_of_a_node(self):
        page, row = self.page, "#nodes .row:nth-child(1)"
        kill = row + " button:nth-child(1)"
        page.press(kill)
        page.state(row, "down")
        page.log_has("Node 1 is killed")
        page.wait(lambda: page.text("#majority").startswith("2 of 3"), "two nodes count")
        self.goes_on_selling()
        self.assertEqual(page.text(kill), "Start")
        page.press(kill)
        page.state(row, "in quarantine")
        page.state(row, "up")
        self.nothing_is_oversold()

    def survives_a_cut_network(self):
        page, row = self.page, "#nodes .row:nth-child(2)"
        cut = row + " button:nth-child(2)"
        page.press(cut)
        page.state(row, "cut off")
        self.goes_on_selling()
        page.press(cut)
        page.state(row, "up")
        page.log_has("Node 2 is back in the network")
        self.nothing_is_oversold()

    def survives_a_frozen_server(self):
        page, row = self.page, "#servers .row:nth-child(3)"
        page.press(row + " button")
        page.state(row, "frozen")
        self.goes_on_selling()
        page.state(row, "running")
        page.log_has("Server 3 goes on")
        refused = re.compile(r"has refused [1-9]\d* late writes? of server 3:")
        page.wait(lambda: refused.search(page.text("#news")), "a late write is refused")
        self.assertGreater(page.number("#refused"), 0)
        self.nothing_is_oversold()

    def oversells_without_the_lock(self):
        page = self.page
        page.press("#switch")
        page.wait(lambda: "without the lock" in page.text("#mode"), "the mode is shown")
        page.wait(lambda: page.number("#without-lock [data-oversold]") > 20, "items are oversold")
        self.nothing_is_oversold()
        page.wait(lambda: page.text("#switch") == "Sell with the lock", "there is a way back")
        page.press("#switch")
        self.goes_on_selling()
        page.log_has("of them get nothing")
        self.assertIn("under the fenced lock", page.text("#mode"))
        self.nothing_is_oversold()

    def compares_strategies(self):
        page = self.page
        page.press("#compare")
        page.wait(lambda: page.text("#compare") == "Comparing", "it begins")
        page.wait(lambda: page.text("#compare") != "Comparing", "it ends")
        rows = page.driver.find_elements(By.CSS_SELECTOR, "#strategies tr")
        figures = {}
        for row in rows:
            cells = [cell.text.replace(",", "") for cell in row.find_elements(By.TAG_NAME, "td")]
            figures[row.get_attribute("data-name")] = [float(text) for text in cells[1:5]]
        self.assertEqual(set(figures),
                         {"none", "lock", "hold", "fenced", "batch", "for_update", "atomic", "redis"})
        for name, (rate, p50, p99, oversold) in figures.items():
            self.assertGreater(rate, 0, name)
            self.assertTrue(0 < p50 <= p99, name)
            self.assertEqual(oversold > 0, name == "none", f"{name}: {oversold}")
        self.goes_on_selling()

    def fits_all_screens(self):
        given.screenshots.mkdir(parents=True, exist_ok=True)
        self.page.press("#nodes .row:nth-child(3) button:nth-child(1)")  # something to be seen
        self.page.state("#nodes .row:nth-child(3)", "down")
        for scheme in ("light", "dark"):
            for name, width in (("desktop", 1280), ("phone", 390)):
                wide = self.page.screenshot(f"{name}-{scheme}", width, scheme)
                self.assertLessEqual(wide, width, "nothing is wider than the screen")
        self.assertEqual(self.page.complaints(), [])

    def obeys_only_its_own_page(self):
        host = self.address.removeprefix("http://").rstrip("/")

        def status(method, path, body=None, **headers):
            client = http.client.HTTPConnection(host, timeout=PATIENCE)
            with contextlib.closing(client):
                client.request(method, path, body, headers)
                return client.getresponse().status

        kill = '{"action":"kill_node","node":1}'
        own = "http://" + host
        self.assertEqual(status("POST", "/actions", kill), 403)
        self.assertEqual(status("POST", "/actions", kill, Origin="http://other.example"), 403)
        self.assertEqual(status("POST", "/actions", kill, Origin="null"), 403)
        self.assertEqual(status("POST", "/actions", kill, Origin=own, Host="other.example"), 403)
        self.assertEqual(status("GET", "/events", Host="other.example"), 403)
        self.assertEqual(status("GET", "/actions"), 405)
        self.assertEqual(status("GET", "/other"), 404)
        for bad in ("", "[]", "{}", '{"action":1}', '{"action":"kill_node"}',
                    '{"action":"kill_node","node":-1}', '{"action":"kill_node","node":9}',
                    '{"action":"explode_node","node":1}', '{"action":"explode"}',
                    '{"action":"freeze_server","server":1e9}'):
            self.assertEqual(status("POST", "/actions", bad, Origin=own), 400, bad)
        with self.assertRaises((http.client.HTTPException, OSError)):
            status("POST", "/actions", "x" * 50000, Origin=own)
        self.assertEqual(self.page.text("#nodes .row:nth-child(2) .pill"), "up")

    def leaves_nothing(self):
        status, output, left = self.sale.end()
        self.assertEqual(left, [], "these processes still run")
        self.assertEqual(self.sale.left_behind(), [])
        self.assertEqual(status, 0, output)
        self.assertRegex(output, r"with the lock: +orders=\d+ oversold=0\n")
        self.assertRegex(output, r"without the lock: +orders=\d+ oversold=[1-9]")
        self.page.wait(lambda: self.page.text("#live") == "connection lost", "the page knows")


class Start(unittest.TestCase):
    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            sale = Sale(f"--port={taken.getsockname()[1]}", "--nodes=3", "--servers=2")
            self.addCleanup(sale.close)
            _, errors = sale.process.communicate(timeout=PATIENCE)
            self.assertEqual(sale.process.returncode, 1)
            self.assertIn("Address already in use", errors)
            self.assertEqual(sale.left_behind(), [])

    def test_an_interrupted_start(self):
        sale = Sale("--nodes=3", "--servers=2")
        self.addCleanup(sale.close)
        self.assertIn("PostgreSQL", sale.process.stderr.readline())
        status, _, left = sale.end()
        self.assertEqual((status, left, sale.left_behind()), (130, [], []))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--screenshots", required=True, type=pathlib.Path)
    given = parser.parse_args()
    unittest.main(argv=["page"])
