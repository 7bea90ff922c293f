"""Usage: open_in_perfetto.py INTERFACE TRACE SCREENSHOT: opens a trace in Perfetto's user interface, served from the
folder INTERFACE, in headless Chromium, and prints what its trace processor found, as JSON."""
import functools
import http.server
import json
import sys
import threading

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

interface, trace, screenshot = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def translate_path(self, path):
        return trace if path.startswith("/trace.json") else super().translate_path(path)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=interface))
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"

options = webdriver.ChromeOptions()
for one in "--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1600,900":
    options.add_argument(one)
browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
try:
    browser.set_script_timeout(60)
    browser.get(f"{address}/#!/?url={address}/trace.json")
    WebDriverWait(browser, 60).until(lambda b: b.execute_script("return document.body.innerText.includes('rank 0')"))
    print(json.dumps(browser.execute_async_script("""
        const done = arguments[0];
        const query = async text => {
          const rows = [];
          const result = await app.trace.engine.query(text);
          for (const it = result.iter({}); it.valid(); it.next()) rows.push(String(it.get('answer')));
          return rows;
        };
        (async () => done({
          errors: await query("select name as answer from stats where severity in ('error', 'data_loss') and value > 0"),
          processes: await query("select name as answer from process where name like 'rank%' order by pid"),
          steps: Number((await query("select count(*) as answer from slice where name like 'ProfilerStep%'"))[0]),
          counters: Number((await query("select count(*) as answer from counter"))[0]),
        }))().catch(error => done({errors: [String(error)]}));
    """)))
    browser.save_screenshot(screenshot)
finally:
    browser.quit()
