/**
 * Measures how fast a signed-in person sees pages: time to the first byte, to the first paint and
 * to the largest paint (LCP). Each is the median of seven loads with an empty cache. Starts a
 * separate stack, or uses the stack at `E2E_BASE_URL`. Run `npm run build` before.
 */
import { chromium, type Browser, type BrowserContext } from "@playwright/test";
import { existsSync } from "node:fs";
import { signIn } from "../../e2e/support/sign-in";
import { startStack } from "../../e2e/support/stack";
import { median } from "./harness";

const PATHS = ["/", "/activity", "/swap"];
const ROUNDS = 7;
const SETTLED_MS = 1_500;
const CHROMIUM = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) =>
  existsSync(path),
);

interface Times {
  readonly firstByteMs: number;
  readonly firstPaintMs: number;
  readonly largestPaintMs: number;
}

/** Reads the paint times of the page, in milliseconds since the request began. */
const readTimes = (settledMs: number): Promise<Times> =>
  new Promise((done) => {
    let largestPaintMs = Number.NaN;
    new PerformanceObserver((list) => {
      largestPaintMs = list.getEntries().at(-1)?.startTime ?? largestPaintMs;
    }).observe({ type: "largest-contentful-paint", buffered: true });
    setTimeout(() => {
      const page = performance.getEntriesByType("navigation")[0] as PerformanceNavigationTiming;
      const firstPaintMs =
        performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN;
      done({ firstByteMs: page.responseStart, firstPaintMs, largestPaintMs });
    }, settledMs);
  });

const load = async (
  browser: Browser,
  url: string,
  state: Awaited<ReturnType<BrowserContext["storageState"]>>,
) => {
  const context = await browser.newContext({
    storageState: state,
    viewport: { width: 1280, height: 800 },
  });
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
    // The first load warms up the server and is not counted.
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

export const run = async (): Promise<void> => {
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
