import { expect, test, type Page } from "./support/test";
import { createContact } from "@/lib/contracts/contacts";
import { settle, still } from "./support/axe";
import { pictureFault } from "./support/committed-picture";
import { seedFullLists } from "./support/full-lists";
import { layoutFaults } from "./support/layout-faults";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const WIDTHS = [1440, 1180, 820, 390, 320] as const;
const SCHEMES = ["light", "dark"] as const;
const PHONE_MAX = 500;
const LAYOUT_MS = 2_000;

/** Pages with a list that the seed does not name. */
const LISTS = ["/members", "/audit-log", "/notifications", "/payouts/new"];
/**
 * Pages without a list. Their forms and figures have tests of their own, and the receipt is made
 * for paper.
 */
const OTHERS =
  /^\/(swap|transfer|private\/\w+|dev\/\w+|activity\/\w+|accounts\/\w+\/withdraw)$|\/receipt$/;

const heightOf = (width: number): number => (width < PHONE_MAX ? 844 : 900);

/** Opens all that a page folds, so that its rows are measured too. */
const unfold = async (page: Page, path: string): Promise<void> => {
  if (path === "/balances") await page.getByRole("button", { name: "Open all" }).click();
  if (path !== "/reserves") return;
  for (const chains of await page.getByText("Chains, blocks and proof").all())
    await chains.click();
};

/** The page shows its data. The placeholder of the faucet below the window is no data. */
const shown = async (page: Page): Promise<void> => {
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await expect(page.getByRole("main").getByText(/^Loading /)).toHaveCount(0);
  await still(page);
};

/** The faults that stay. A page gets its new layout some frames after a resize. */
const lastingFaults = async (page: Page): Promise<string[]> => {
  let faults = await layoutFaults(page);
  await expect(async () => {
    faults = await layoutFaults(page);
    expect(faults).toEqual([]);
  })
    .toPass({ timeout: LAYOUT_MS })
    .catch(() => undefined);
  return faults;
};

test("no list cuts, wraps, covers or shifts a text at any width in light and dark, with the longest names and largest amounts", async ({
  page,
}) => {
  test.setTimeout(900_000);
  await signIn(page.request);
  const seeded = await seedFullLists(page);
  const paths = [...seeded.paths, ...LISTS].filter((path) => !OTHERS.test(path));
  const found: Record<string, string[]> = {};
  for (const path of paths) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(path);
    await shown(page);
    await unfold(page, path);
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: heightOf(width) });
        await page.emulateMedia({ colorScheme });
        const faults = await lastingFaults(page);
        if (faults.length > 0) found[`${path} at ${String(width)} px, ${colorScheme}`] = faults;
      }
  }
  expect(found).toEqual({});
  await comparePictures(page, seeded.payout);
});

/** The pages whose pictures are committed, by the name of the picture. */
const picturesOf = (payout: string): Readonly<Record<string, string>> => ({
  overview: "/",
  swap: "/swap",
  transfer: "/transfer",
  payouts: "/payouts",
  payout,
  // The order of deposits depends on the moment at which the chain is searched.
  activity: "/activity?kind=transfer,swap",
  balances: "/balances",
  accounts: "/accounts",
  wallets: "/wallets",
  inbox: "/inbox",
  policies: "/settings/policies",
  settings: "/settings",
});

/** Compares twelve pages, on a desktop in light colours and on a phone in dark colours. */
const comparePictures = async (page: Page, payout: string): Promise<void> => {
  const faults: (string | null)[] = [];
  for (const [name, path] of Object.entries(picturesOf(payout))) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(path);
    await settle(page);
    faults.push(await pictureFault(page, name));
    await page.setViewportSize({ width: 390, height: heightOf(390) });
    await page.emulateMedia({ colorScheme: "dark" });
    await lastingFaults(page);
    faults.push(await pictureFault(page, `${name}-phone-dark`));
  }
  expect(faults.filter((fault) => fault !== null)).toEqual([]);
  // With `--update-snapshots` Playwright would store the moved page below as the new picture.
  if (test.info().config.updateSnapshots === "changed") return;
  // Proves that the comparison sees a page whose content has moved by one line.
  const moved = await pictureFault(page, "settings-phone-dark", "main { translate: 0 20px }");
  expect(moved).toMatch(/pixels .* are different/);
};

/** A page with one fault of each kind, to prove that the measure sees it. */
const FAULTY = `
  <h1>Faults</h1>
  <div style="width: 100px; overflow: hidden; white-space: nowrap">cut without any ellipsis here</div>
  <div style="width: 100px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis">
    shortened without a title here
  </div>
  <table style="width: 600px; table-layout: fixed; border-collapse: collapse">
    <thead>
      <tr>
        <th style="width: 60px; text-align: left">A long header</th>
        <th style="text-align: right; padding-right: 40px">Amount</th>
        <th style="text-align: left">Wallet</th>
      </tr>
    </thead>
    <tbody>
      <tr>
        <td>a cell that wraps</td>
        <td style="text-align: right"><span class="num">5.00<span style="padding-left: 30px"> USDC</span></span></td>
        <td style="position: relative">
          <span>0x1234…abcd</span><svg width="16" height="16" style="position: absolute; left: 10px; top: 50%; margin-top: -8px"></svg>
        </td>
      </tr>
    </tbody>
  </table>
  <div style="width: 3000px">wide</div>`;

test("the measure of these tests finds each kind of fault", async ({ page }) => {
  await page.setContent(`<main>${FAULTY}</main>`);
  const faults = (await layoutFaults(page)).join("\n");
  for (const kind of [
    /scrolls sideways: \d+ px/,
    /clipped without an ellipsis: “cut without/,
    /shortened without its full value: “shortened without/,
    /header wraps: “A long header”/,
    /header “Amount” is -\d+ px off the right edge of its column/,
    /“a cell that wraps” wraps/,
    /unit “ USDC” is 3\d px behind “5.00”/,
    /“0x1234…abcd” overlaps mark/,
  ])
    expect(faults).toMatch(kind);
});

/** A title or heading that the bar at the top covers cannot be read. */
const expectBelowBar = async (page: Page, name: string): Promise<void> => {
  const bar = await page.getByRole("banner").boundingBox();
  const heading = await page.getByRole("heading", { name }).first().boundingBox();
  expect(heading?.y).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0));
};

test("no title hides under the bar, neither after a dialog whose button is gone nor behind a link to a part of the page", async ({
  page,
}) => {
  await signIn(page.request);
  const { api } = await projectOf(page);
  for (const digit of ["1", "2", "3", "4", "5", "6", "7", "8"])
    await api.call(createContact, {
      body: { name: `Contact ${digit}`, address: `0x${digit.repeat(40)}` },
    });
  await page.setViewportSize({ width: 1280, height: 400 });
  await page.goto("/contacts");
  await page.getByRole("button", { name: "Actions for Contact 1" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const dialog = page.getByRole("alertdialog");
  await dialog.getByRole("button", { name: /Delete/ }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("cell", { name: "Contact 1" })).toHaveCount(0);
  await expect(page.getByRole("main")).toBeFocused();
  await expectBelowBar(page, "Contacts");
  await page.goto("/settings/policies#votes");
  const votes = "Approval by several people";
  await expect(page.getByRole("heading", { name: votes })).toBeInViewport();
  await expectBelowBar(page, votes);
});
