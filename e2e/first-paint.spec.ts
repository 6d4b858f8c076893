import { expect, test, type Page } from "./support/test";
import { gzipSync } from "node:zlib";
import { settle } from "./support/axe";
import { seedProject } from "./support/seed";
import { signIn } from "./support/sign-in";

/** Of all scripts that the overview loads, each compressed by gzip. Measured: 383 KB; the goal is 250 KB. */
const OVERVIEW_SCRIPT_BYTES_MAX = 390 * 1024;
const SHIFT_MAX = 0.05;

interface Shifts {
  total: number;
  largest: string;
}

/** Counts layout shifts that no input of the person caused, as browsers do for the cumulative layout shift. */
const countShifts = async (page: Page): Promise<void> => {
  await page.addInitScript(() => {
    interface Shift extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Node | null }[];
    }
    const shifts = { total: 0, largest: "", largestValue: 0 };
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (entry.hadRecentInput) continue;
        shifts.total += entry.value;
        if (entry.value <= shifts.largestValue) continue;
        shifts.largestValue = entry.value;
        shifts.largest = entry.sources
          .map(({ node }) => (node instanceof Element ? node.outerHTML.slice(0, 120) : ""))
          .join(" | ");
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
};

const shiftsOf = (page: Page): Promise<Shifts> =>
  page.evaluate(() => (window as unknown as { shifts: { total: number; largest: string } }).shifts);

test("the overview loads no more scripts than its budget allows, compressed by brotli and kept for ever", async ({
  page,
}) => {
  await signIn(page.request);
  const sizes = new Map<string, number>();
  const headers: Record<string, string>[] = [];
  page.on("response", (answer) => {
    if (answer.request().resourceType() !== "script") return;
    headers.push(answer.headers());
    void answer.body().then((body) => sizes.set(answer.url(), gzipSync(body).byteLength));
  });
  await page.goto("/");
  await settle(page);
  await page.waitForLoadState("load");
  await expect.poll(() => sizes.size).toBe(headers.length);
  expect(headers.length).toBeGreaterThan(0);
  for (const sent of headers) {
    expect(sent["content-encoding"]).toBe("br");
    expect(sent["cache-control"]).toContain("immutable");
  }
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(OVERVIEW_SCRIPT_BYTES_MAX);
});

test("the overview arrives with its numbers, before any script has run, and the browser does not ask for them again", async ({
  page,
}) => {
  await signIn(page.request);
  // Data that is late is left out, and a machine under load may be late.
  await expect(async () => {
    const answer = await page.request.get("/", { headers: { "accept-encoding": "br" } });
    expect(answer.headers()["content-encoding"]).toBe("br");
    const html = await answer.text();
    expect(html).toContain("Nothing waits for you.");
    expect(html).toContain("No balances yet");
    expect(html).not.toContain("Loading balances");
  }).toPass({ timeout: 30_000 });
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.startsWith("/api/auth/")) asked.push(pathname);
  });
  // It would begin with what changed just before: this person's own sign-in.
  await page.route("**/api/stream", () => undefined);
  await page.goto("/");
  await settle(page);
  expect(asked).not.toContain("/api/me");
  expect(asked).not.toContain("/api/wallets");
});

test("no page that is full of data shifts by more than 0.05 while it loads", async ({ page }) => {
  test.setTimeout(300_000);
  await signIn(page.request);
  const paths = await seedProject(page);
  await countShifts(page);
  const found: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    await settle(page);
    const { total, largest } = await shiftsOf(page);
    if (total > SHIFT_MAX) found.push(`${path}: ${total.toFixed(3)}, ${largest}`);
  }
  expect(found).toEqual([]);
});
