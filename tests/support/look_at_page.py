"""Usage: look_at_page.py PAGE [--screenshot FILE [--width N] [--height N]]

Opens a page in headless Chromium at 1280 and 400 pixels, light and dark, and prints as JSON what a reader would stumble
over: text that is cut, beyond the window or on other text, text without contrast, requests to anything but the page
itself, and messages of the console. --screenshot takes a picture instead.
"""
import argparse
import base64
import json
import pathlib

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

# Finds problems of the page as it is shown now. `within`: ancestors that scroll are scrolled by readers, so that what
# lies outside is not lost.
FIND = """
const found = [];
const scrolls = style => /auto|scroll/.test(style.overflowX + style.overflowY);
const cuts = style => /hidden|clip/.test(style.overflowX + style.overflowY) || style.textOverflow === 'ellipsis';
const channels = colour => colour.match(/[0-9.]+/g).map(Number);
const light = colour => {
  const [r, g, b] = colour.slice(0, 3).map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const background = element => {
  for (let at = element; at; at = at.parentElement) {
    const colour = channels(getComputedStyle(at).backgroundColor);
    if (colour.length === 3 || colour[3] > 0) return colour;
  }
  return [255, 255, 255];
};
const texts = [];
const walker = document.createTreeWalker(document.body || document.documentElement, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode, text = node.textContent.trim(), element = node.parentElement;
  if (!text || element.closest('script, style, title, desc')) continue;
  if (!element.checkVisibility()) continue;
  const range = document.createRange();
  range.selectNodeContents(node);
  const boxes = [...range.getClientRects()].filter(box => box.width && box.height);
  if (!boxes.length) continue;
  let scrolled = false;
  const limits = [];
  for (let at = element; at && at !== document.documentElement; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (scrolls(style)) { scrolled = true; break; }
    if (cuts(style) && !(at instanceof SVGElement)) limits.push(at.getBoundingClientRect());
  }
  const frame = document.documentElement instanceof SVGElement ? document.documentElement.getBoundingClientRect() : null;
  if (frame) limits.push(frame);
  for (const box of boxes) {
    texts.push({text, box, node, element, scrolled});
    const slack = 1;
    for (const limit of limits)
      if (box.left < limit.left - slack || box.right > limit.right + slack || box.top < limit.top - slack ||
          box.bottom > limit.bottom + slack) found.push(['cut', text]);
    if (!scrolled && (box.right > innerWidth + slack || box.left < -slack)) found.push(['beyond the window', text]);
  }
  if (!(element instanceof SVGElement)) {
    const [a, b] = [light(channels(getComputedStyle(element).color)), light(background(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) found.push(['contrast ' + contrast.toFixed(1), text]);
  }
}
texts.forEach((a, i) => {
  for (const b of texts.slice(i + 1)) {
    if (a.node === b.node || a.scrolled !== b.scrolled) continue;
    const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
    const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    if (width > 2 && height > 0.4 * Math.min(a.box.height, b.box.height)) found.push(['on other text', a.text + ' / ' + b.text]);
  }
});
if (document.documentElement.scrollWidth > innerWidth && !(document.documentElement instanceof SVGElement))
  found.push(['the page scrolls sideways', String(document.documentElement.scrollWidth)]);
return found;
"""


def browser():
    options = webdriver.ChromeOptions()
    for one in "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars":
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


def show(driver, address, width, scheme, height=900):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           dict(width=width, height=height, deviceScaleFactor=1, mobile=False))
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                           dict(features=[dict(name="prefers-color-scheme", value=scheme)]))
    driver.get(address)


def requests_of(driver):
    """What the browser requested since it was last asked, but for the pages themselves and data within them."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return [url[:200] for url in urls if not url.startswith(("data:", "file:"))]


def look(driver, page):
    address = page.resolve().as_uri()
    found = []
    pictures = []
    for width in 1280, 400:
        for scheme in "light", "dark":
            show(driver, address, width, scheme)
            driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true;")
            found += [[f"{width} {scheme}", *one] for one in driver.execute_script(FIND)]
            pictures = driver.execute_script("return [...document.images].map(one => [one.naturalWidth, one.src])")
    found += [["picture", "not drawn", source[:80]] for width, source in pictures if not width]
    for _, source in pictures:  # as documents of their own, whose texts can be looked at
        show(driver, source, 900, "light")
        found += [["picture", *one] for one in driver.execute_script(FIND)]
    messages = [entry["message"] for entry in driver.get_log("browser")]
    return dict(found=found, requests=requests_of(driver), messages=messages, pictures=len(pictures))


def use(driver, page):
    """Sorts and filters the table as a reader does, and follows a link to a run's details."""
    def column(number):
        return driver.execute_script(
            "return [...document.querySelectorAll('#table tbody tr')].filter(row => !row.hidden)"
            ".map(row => row.cells[arguments[0]].textContent)", number)

    show(driver, page.resolve().as_uri(), 1280, "light")
    titles = driver.execute_script("return [...document.querySelectorAll('#table th')].map(one => one.textContent)")
    runtime, run = titles.index("Runtime"), titles.index("Run")
    buttons = driver.find_elements("css selector", "#table th button")
    result = dict(runs=column(run))
    buttons[runtime].click()
    result["ascending"] = column(runtime)
    buttons[runtime].click()
    result["descending"] = column(runtime)
    driver.find_element("id", "filter").send_keys("ddp 2x4")
    result["filtered"] = column(run)
    result["count"] = driver.find_element("id", "count").text
    driver.find_element("css selector", "#table tbody tr:not([hidden]) a").click()
    result["opened"] = driver.execute_script(
        "return document.querySelector(location.hash).open && document.querySelector(location.hash).innerText")
    return result


parser = argparse.ArgumentParser()
parser.add_argument("page", type=pathlib.Path)
parser.add_argument("--screenshot")
parser.add_argument("--width", type=int, default=1280)
parser.add_argument("--height", type=int, default=1000)
parser.add_argument("--use", action="store_true")
arguments = parser.parse_args()
driver = browser()
try:
    if arguments.screenshot:
        show(driver, arguments.page.resolve().as_uri(), arguments.width, "light", arguments.height)
        picture = driver.execute_cdp_cmd("Page.captureScreenshot", dict(format="png"))
        pathlib.Path(arguments.screenshot).write_bytes(base64.b64decode(picture["data"]))
    else:
        print(json.dumps(use(driver, arguments.page) if arguments.use else look(driver, arguments.page)))
finally:
    driver.quit()
