import { expect, test, type Page } from "./support/test";
import { axeFaults, checkLooks } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import {
  choose,
  chooseDestination,
  fillSource,
  mailedCode,
  openRecipient,
  signInWithBurner,
  typeCode,
  verifyEmail,
} from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";
import { expectNoHigherThan } from "./support/sizes";

const EMAIL = `ada-${String(Date.now())}@example.test`;
const RECIPIENT = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

/**
 * Gets test tokens in both ways: by the button of the first step, and, once that step is done, by
 * the panel for test tokens.
 */
const fund = async (page: Page): Promise<void> => {
  await page.goto("/");
  await page.getByRole("button", { name: "1,000 USDC on Local 1" }).click();
  await expect(page.getByText("$1,000.00").first()).toBeVisible();
  // The panel moves to another place of the page when the first money arrives.
  await expect(() =>
    page.getByRole("region", { name: "Get test tokens" }).scrollIntoViewIfNeeded(),
  ).toPass();
  await choose(page, page.getByLabel("Chain", { exact: true }), "Local 2");
  await page.getByRole("button", { name: "Send to the treasury" }).click();
  await expect(page.getByText("$2,000.00").first()).toBeVisible();
};

test("a newcomer swaps tokens of two chains into another on a third, and the chains agree", async ({
  page,
}) => {
  test.setTimeout(180_000);
  const foreign = new Set<string>();
  const problems: string[] = [];
  page.on("request", (request) => {
    const { hostname, protocol } = new URL(request.url());
    if (protocol.startsWith("http") && !["localhost", "127.0.0.1"].includes(hostname))
      foreign.add(hostname);
  });
  page.on("pageerror", (error) => problems.push(error.message));
  const seen: string[] = [];

  await signInWithBurner(page);
  await verifyEmail(page, EMAIL, seen);
  await fund(page);

  await page.goto("/swap");
  await fillSource(page, 1, { chain: "Local 1", token: "USDC", amount: "120" });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 2, { chain: "Local 2", token: "USDC", amount: "80" });
  await chooseDestination(page, "WETH", "Local 3");
  await (await openRecipient(page)).fill(RECIPIENT);
  const before = await balanceOnChain(page, 31339, "WETH", RECIPIENT);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const review = page.getByRole("dialog", { name: "Review the swap" });
  await expect(review.getByTitle(RECIPIENT).first()).toHaveText(RECIPIENT);
  await expect(review.getByRole("button", { name: "Swap 200.00 USDC" })).toBeVisible();
  await expect(review.getByRole("list", { name: "Steps of the swap" })).toHaveText(
    /Review.*Approve.*Done/,
  );
  // The code was mailed when the review opened. Its last digit approves and executes.
  await expect(review.getByLabel("One-time code")).toBeFocused();
  await expect(review.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await mailedCode(page.request, EMAIL, seen));

  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
  const after = await balanceOnChain(page, 31339, "WETH", RECIPIENT);
  const received = Number(after) - Number(before);
  expect(received).toBeGreaterThan(0.05);

  await page.reload();
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible();
  await page.goto("/activity");
  await expect(page.getByText("Completed").first()).toBeVisible();
  expect([...foreign]).toEqual([]);
  expect(problems).toEqual([]);
});

const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
];
const ROUTE_HEIGHT_MAX = 44;

test("with two sources and routes the primary button is in view, routes are one line, and pills sit on their edge", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "1000");
  await project.give(31338, "USDC", "1000");
  await page.goto("/swap");
  await fillSource(page, 1, { chain: "Local 1", token: "USDC", amount: "120" });
  await page.getByRole("button", { name: "Add source" }).click();
  await fillSource(page, 2, { chain: "Local 2", token: "USDC", amount: "80" });
  await chooseDestination(page, "WETH", "Local 3");
  const review = page.getByRole("button", { name: "Review", exact: true });
  await expect(review).toBeEnabled();
  for (const size of WINDOWS) {
    await page.setViewportSize(size);
    await page.evaluate(() => window.scrollTo(0, 0));
    await expect(review).toBeInViewport({ ratio: 1 });
    // Nothing lies over the button.
    await review.click({ trial: true });
    await expectNoHigherThan(page.getByRole("radio"), ROUTE_HEIGHT_MAX);
    await expect.poll(() => loosePills(page)).toEqual([]);
  }
  await checkLooks(page, "swap with two sources", [{ width: 820, height: 1180 }]);
});

/** The hops of the flow picture whose pill does not overlap an edge of the picture. */
const loosePills = async (page: Page): Promise<string[]> => {
  await expect(page.getByTestId("flow-hop").first()).toBeVisible();
  return page.getByTestId("flow-hop").evaluateAll((pills) => {
    const edges = [...document.querySelectorAll('[data-testid="flow-edge"]')];
    const isOn = (pill: DOMRect, edge: SVGGeometryElement): boolean => {
      const matrix = edge.getScreenCTM();
      const length = edge.getTotalLength();
      return Array.from({ length: 101 }, (_, step) => {
        const at = edge.getPointAtLength((length * step) / 100);
        return at.matrixTransform(matrix ?? undefined);
      }).some(({ x, y }) => x > pill.left && x < pill.right && y > pill.top && y < pill.bottom);
    };
    return pills
      .filter(
        (pill) =>
          !edges.some((edge) => isOn(pill.getBoundingClientRect(), edge as SVGGeometryElement)),
      )
      .map((pill) => pill.textContent);
  });
};

test("the largest balance is preselected, into the other asset; drafts and links come first", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31338, "USDC", "50");
  const source = page.getByLabel("Source 1 token", { exact: true });
  const destination = page.getByLabel("Destination token", { exact: true });
  await page.goto("/swap");
  await expect(source).toHaveText("USDC on Local 2");
  await expect(destination).toHaveText("WETH on Local 2");
  await expect(page.getByRole("button", { name: /^Source 1: use all 50 USDC$/ })).toBeVisible();

  // A form that nobody changed is no draft, so it follows the balances.
  await project.give(31339, "WETH", "1");
  await page.goto("/swap");
  await expect(source).toHaveText("WETH on Local 3");
  await expect(destination).toHaveText("USDC on Local 3");
  await page.getByRole("button", { name: "Add source" }).click();
  await expect(page.getByLabel("Source 2 token", { exact: true })).toHaveText(
    "USDC on Local 2",
  );
  await page.getByRole("button", { name: "Remove source 1" }).click();
  await expect(source).toHaveText("USDC on Local 2");
  await page.reload();
  await expect(source).toHaveText("USDC on Local 2");
  await expect(destination).toHaveText("USDC on Local 3");
  await page.goto("/swap?from=WETH&chain=31339");
  await expect(source).toHaveText("WETH on Local 3");
  await expect(destination).toHaveText("USDC on Local 3");
});

test("the chooser finds a token by its chain and wallet, and begins with what is worth most", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "10");
  await project.give(31338, "DAI", "900");
  await page.goto("/swap");
  const source = page.getByLabel("Source 1 token", { exact: true });
  await source.focus();
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option").nth(0)).toHaveAccessibleName(
    /^DAI on Local 2 Treasury/,
  );
  await expect(page.getByRole("option").nth(1)).toHaveAccessibleName(/^USDC on Local 1/);
  await page.keyboard.type("usdc 1 treas");
  await expect(page.getByRole("option").first()).toHaveAccessibleName(/^USDC on Local 1/);
  await expect(page.getByRole("option", { name: /^DAI/ })).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(source).toHaveText("USDC on Local 1");
  await expect(source).toBeFocused();
  await source.click();
  await page.keyboard.type("nothing like it");
  await expect(page.getByText("No such token on these chains.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(source).toBeFocused();
});

test("what the service refuses is said at its row, its recipient and its slippage", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  const details = [
    ["from.0.token", "is paused by its issuer"],
    ["from.0.amount", "is too small"],
    ["toToken", "is paused by its issuer as well"],
    ["toAddress", "is on a list"],
    ["slippageBps", "is below the limit"],
  ].map(([path, message]) => ({ path, message }));
  await page.route("**/api/swap/quote", (route) =>
    route.fulfill({
      status: 400,
      json: { code: "invalid_request", message: "No quote was made.", details },
    }),
  );
  await page.goto("/swap");
  await page.getByLabel("Source 1 amount", { exact: true }).fill("20");
  for (const name of [
    "Source 1 token",
    "Source 1 amount",
    "Destination token",
    "Recipient",
    "Slippage (%)",
  ]) {
    const field = page.getByLabel(name, { exact: true });
    await expect(field).toHaveAttribute("aria-invalid", "true");
    await expect(field).toHaveAccessibleDescription(/\bis (paused|too|on|below)/i);
  }
  expect(await axeFaults(page)).toEqual([]);
});
