import { expect, test, type Page } from "./support/test";
import { createPublicClient, http } from "viem";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const LISTS =
  /^\/api\/(operations|payouts|transfers|balances\/\w+|inbox|approvals|notifications|wallets|policies)$/;
const BLOCKS = 15;

/** Counts the page's requests of lists. */
const countLists = (page: Page): (() => Record<string, number>) => {
  const calls: Record<string, number> = {};
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "GET" && LISTS.test(pathname))
      calls[pathname] = (calls[pathname] ?? 0) + 1;
  });
  return () => ({ ...calls });
};

/** Waits until the chain has mined this many more blocks. */
const blocksPass = async (count: number): Promise<void> => {
  const chain = createPublicClient({
    transport: http(process.env[`E2E_RPC_URL_${String(CHAIN)}`]),
    cacheTime: 0,
  });
  const start = await chain.getBlockNumber();
  const passed = async (): Promise<number> => Number((await chain.getBlockNumber()) - start);
  await expect.poll(passed, { timeout: 120_000 }).toBeGreaterThanOrEqual(count);
};

for (const { path, heading } of [
  { path: "/", heading: "Overview" },
  { path: "/inbox", heading: "Inbox" },
])
  test(`the page ${heading} calls no list again while nothing changes`, async ({ page }) => {
    test.setTimeout(240_000);
    await signIn(page.request);
    await projectOf(page);
    const lists = countLists(page);
    const stream = page.waitForResponse(
      (response) => response.url().endsWith("/api/stream") && response.ok(),
    );
    await page.goto(path);
    await expect(page.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
    await stream;
    // The stream begins with recent changes, which cause requests before the measurement.
    await blocksPass(BLOCKS);
    const before = lists();
    expect(Object.keys(before)).toContain(
      path === "/" ? "/api/operations" : "/api/notifications",
    );
    await blocksPass(BLOCKS);
    expect(lists()).toEqual(before);
  });

test("a transfer that a program makes appears on the overview and in the activity without a reload", async ({
  page,
  context,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "50");
  const activity = await context.newPage();
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await activity.goto("/activity");
  await expect(activity.getByRole("heading", { name: "Activity", level: 1 })).toBeVisible();
  const transfer = {
    fromChainId: CHAIN,
    toChainId: CHAIN,
    toAddress: RECIPIENT,
    token: "USDC",
    amount: "12.5",
  };
  const operationId = await project.execute(await project.prepareTransfer(transfer));
  for (const one of [page, activity])
    await expect(one.locator(`a[href="/activity/${operationId}"]`).first()).toBeVisible();
  expect(await project.untilFinal(operationId)).toBe("completed");
  await expect(
    activity.getByRole("row").filter({ hasText: "Completed" }).first(),
  ).toBeVisible();
});

test("the footer tells of this browser's own connection", async ({ page, context }) => {
  await signIn(page.request);
  await page.goto("/");
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  const offline = page.getByRole("link", { name: "This device is offline" });
  await expect(offline).toBeHidden();
  await context.setOffline(true);
  await expect(offline).toBeVisible();
  await context.setOffline(false);
  await expect(offline).toBeHidden();
});

test("a list that loads for long says so, and a quick one does not", async ({ page }) => {
  await signIn(page.request);
  const late = page.getByText(
    "Still loading the audit log: the service takes longer than usual.",
  );
  let answer = (): void => undefined;
  const isHeld = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route("**/api/audit-log*", async (route) => {
    await isHeld;
    await route.continue();
  });
  await page.goto("/audit-log");
  await expect(page.getByText("Loading the audit log …")).toBeAttached();
  await expect(late).toBeHidden();
  await expect(late).toBeVisible();
  answer();
  await expect(late).toBeHidden();
});
