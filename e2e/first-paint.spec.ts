import { expect, test, type Page } from "./support/test";
import { gzipSync } from "node:zlib";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { settle } from "./support/axe";
import { holdTables } from "./support/database";
import { countShifts, expectStill } from "./support/layout-shifts";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

/**
 * Maximum size of all scripts that the overview loads, each compressed by gzip. docs/figures.md
 * contains the measured size.
 */
const OVERVIEW_SCRIPT_BYTES_MAX = 250 * 1024;

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
  expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(
    OVERVIEW_SCRIPT_BYTES_MAX,
  );
});

test("the overview arrives with its numbers, before any script has run, and the browser does not ask for them again", async ({
  page,
}) => {
  await signIn(page.request);
  // The server leaves out data that arrives late, which can happen on a busy machine, so the test
  // tries again.
  await expect(async () => {
    const answer = await page.request.get("/", { headers: { "accept-encoding": "br" } });
    expect(answer.headers()["content-encoding"]).toBe("br");
    const html = await answer.text();
    expect(html).toContain("Nothing waits for you.");
    expect(html).toContain("No balances yet");
    expect(html).not.toContain("Loading balances");
  }).toPass({ timeout: 30_000 });
  let asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/") && !pathname.startsWith("/api/auth/"))
      asked.push(pathname);
  });
  // The stream would begin with recent changes, such as this person's sign-in, and cause further
  // requests.
  await page.route("**/api/stream", () => undefined);
  await expect(async () => {
    asked = [];
    await page.goto("/");
    await settle(page);
    expect(asked).not.toContain("/api/me");
    expect(asked).not.toContain("/api/wallets");
  }).toPass({ timeout: 60_000 });
});

/**
 * Opens the overview while API keys, tasks and the history of balances cannot be read, and releases
 * them once the page is shown.
 */
const openLate = async (page: Page, name: string): Promise<void> => {
  const release = await holdTables(["api_key", "payout_schedule", "balance_snapshot"]);
  try {
    await page.goto("/");
    await expect(page.getByText("Loading what waits for you …")).toBeAttached();
    await page.waitForLoadState("load");
  } finally {
    await release();
  }
  await expect(page.getByRole("region", { name: "First steps" })).toBeVisible();
  await settle(page);
  await expectStill(page, name);
};

test("the overview stays still where its data comes after its first drawing", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await countShifts(page);
  await signIn(page.request);
  await openLate(page, "overview of a new project");
  const project = await projectOf(page);
  await project.give(31337, "USDC", "500");
  const { treasury } = project;
  for (const amount of ["10", "20", "30"])
    await project.api.call(swapAndTransfer, {
      body: {
        ...{
          fromWalletId: treasury.id,
          fromChainId: 31337,
          toChainId: 31337,
          fromToken: "USDC",
          toToken: "DAI",
        },
        ...{ amount, recipient: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
      },
    });
  await openLate(page, "overview with tasks");
});

/**
 * Text of the largest element that the browser has painted so far; empty before the first paint.
 */
const largestText = (page: Page): Promise<string> =>
  page.evaluate(
    () =>
      new Promise<string>((done) => {
        new PerformanceObserver((list) => {
          const last = list.getEntries().at(-1);
          done(last instanceof LargestContentfulPaint ? (last.element?.textContent ?? "") : "");
        }).observe({ type: "largest-contentful-paint", buffered: true });
      }),
  );

/** Returns the text of a page without its scripts, which contain the same data again. */
const textOf = (html: string): string =>
  html.replace(/<script.*?<\/script>|<!--.*?-->|<[^>]+>/gs, "").replace(/&#x27;|&#39;/g, "'");

for (const path of ["/", "/activity", "/swap"])
  test(`the largest text that ${path} shows at first is in the server's HTML, not drawn by a script`, async ({
    page,
  }) => {
    await signIn(page.request);
    // The server leaves late data out of the HTML, which can happen on a busy machine, so the test
    // tries again.
    await expect(async () => {
      const html = await (await page.goto(path))?.text();
      await settle(page);
      const text = (await largestText(page)).trim();
      expect(text).not.toBe("");
      expect(textOf(html ?? "")).toContain(text);
    }).toPass({ timeout: 30_000 });
  });
