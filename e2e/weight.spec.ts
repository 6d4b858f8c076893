// The weight of pages: bytes of scripts as transferred, and requests that nobody needs.
import { expect, openPage, test, type Page } from "./support/test";
import { settle } from "./support/axe";
import { signIn } from "./support/sign-in";

const KB = 1024;
const SIGN_IN_BYTES_MAX = 256 * KB;
const PAGE_BYTES_MAX = 250 * KB;
/** Pages whose forms need the libraries of forms and of their checks at once. */
const FORM_BYTES_MAX = 365 * KB;
const FORMS = new Set([
  "/swap",
  "/transfer",
  "/payouts/new",
  "/private",
  "/private/shield",
  "/private/swap",
  "/accounts",
  "/wallets",
  "/contacts",
  "/inbox",
  "/api-keys",
  "/webhooks",
  "/members",
  "/settings",
  "/settings/policies",
]);
const PAGES = [
  "/",
  "/swap",
  "/transfer",
  "/payouts",
  "/payouts/new",
  "/private",
  "/private/shield",
  "/private/swap",
  "/activity",
  "/balances",
  "/accounts",
  "/reserves",
  "/wallets",
  "/contacts",
  "/receive",
  "/inbox",
  "/notifications",
  "/api-keys",
  "/webhooks",
  "/members",
  "/audit-log",
  "/settings",
  "/settings/policies",
];

/** Adds up the bytes of the scripts that this page transfers while it is opened. */
const scriptBytes = async (page: Page, path: string): Promise<number> => {
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (request.resourceType() === "script")
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(path);
  await settle(page);
  await page.waitForLoadState("load");
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
};

test("sign-in transfers few scripts, and asks no node of a chain before a wallet is chosen", async ({
  page,
}) => {
  const nodes = Object.entries(process.env)
    .filter(([name]) => name.startsWith("E2E_RPC_URL_"))
    .map(([, url]) => new URL(url ?? "").host);
  expect(nodes).not.toEqual([]);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (nodes.includes(new URL(request.url()).host)) asked.push(request.url());
  });
  const bytes = await scriptBytes(page, "/sign-in");
  expect(bytes).toBeGreaterThan(0);
  expect(bytes).toBeLessThanOrEqual(SIGN_IN_BYTES_MAX);
  // The picture of the chains goes on: its numbers come from the service.
  const figure = page.getByRole("figure", { name: "The chains now" });
  await expect(figure).toContainText(/block [1-9]/);
  const before = await figure.innerText();
  await expect.poll(() => figure.innerText(), { timeout: 30_000 }).not.toBe(before);
  expect(asked).toEqual([]);
});

test("every page transfers no more scripts than its budget allows", async ({ browser }) => {
  test.setTimeout(300_000);
  const weights: Record<string, number> = {};
  for (const path of PAGES) {
    // A new context has an empty cache.
    const page = await openPage(browser);
    await signIn(page.request);
    weights[path] = await scriptBytes(page, path);
    await page.context().close();
  }
  const heavy = Object.entries(weights).filter(
    ([path, bytes]) => bytes > (FORMS.has(path) ? FORM_BYTES_MAX : PAGE_BYTES_MAX),
  );
  expect(heavy).toEqual([]);
  expect(Object.values(weights).every((bytes) => bytes > 0)).toBe(true);
});
