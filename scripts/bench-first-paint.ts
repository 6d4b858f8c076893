/**
 * Measures how fast pages of a signed-in person are painted: first byte, first paint and largest paint (LCP), the median of seven loads with an
 * empty cache each. Starts a stack of its own; with `E2E_BASE_URL` it asks that one. Build first: `npm run build`.
 */
import { chromium, type Browser, type BrowserContext } from "@playwright/test";
import { existsSync } from "node:fs";
import { signIn } from "../e2e/support/sign-in";
import { startStack } from "../e2e/support/stack";

const PATHS = ["/", "/activity", "/swap"];
const ROUNDS = 7;
const SETTLED_MS = 1_500;
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

interface Times {
  readonly firstByteMs: number;
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
}

const median = (values: readonly number[]): number =>
  Math.round([...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN);

/** Since the request for the page began. */
const readTimes = (settledMs: number): Promise<Times> =>
  new Promise((done) => {
    let largestPaintMs = Number.NaN;
    new PerformanceObserver((list) => {
      largestPaintMs = list.getEntries().at(-1)?.startTime ?? largestPaintMs;
    }).observe({ type: "largest-contentful-paint", buffered: true });
    setTimeout(() => {
      const page = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
      const firstPaintMs = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
      done({ firstByteMs: page.responseStart, firstPaintMs, largestPaintMs });
    }, settledMs);
  });

const load = async (browser: Browser, url: string, state: Awaited<ReturnType<BrowserContext["storageState"]>>) => {
  const context = await browser.newContext({ storageState: state, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.goto(url, { waitUntil: "load" });
  const times = await page.evaluate(readTimes, SETTLED_MS);
  await context.close();
  return times;
};

const measure = async (browser: Browser, baseUrl: string): Promise<void> => {
  const person = await browser.newContext({ baseURL: baseUrl });
  await signIn(person.request);
  const state = await person.storageState();
  for (const path of PATHS) {
    const times: Times[] = [];
    // The first load warms the server up.
    for (let round = 0; round <= ROUNDS; round += 1)
      times.push(await load(browser, new URL(path, baseUrl).href, state));
    const of = (name: keyof Times): number => median(times.slice(1).map((each) => each[name]));
    console.log(
      JSON.stringify({
        path,
        firstByteMs: of("firstByteMs"),
        firstPaintMs: of("firstPaintMs"),
        largestPaintMs: of("largestPaintMs"),
      }),
    );
  }
};

const main = async (): Promise<void> => {
  const given = process.env.E2E_BASE_URL;
  const stack = given === undefined ? await startStack() : null;
  const browser = await chromium.launch({
    ...(CHROMIUM === undefined ? {} : { executablePath: CHROMIUM }),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  try {
    await measure(browser, given ?? stack?.url ?? "");
  } finally {
    await browser.close();
    await stack?.stop();
  }
};

await main();
