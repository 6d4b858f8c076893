import { expect, test, type Page } from "./support/test";
import { putAnnotation } from "@/lib/contracts/annotations";
import { listActivity } from "@/lib/contracts/activity";
import { axeFaults } from "./support/axe";
import { choose } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const CHAIN = 31337;
const FINAL_TIMEOUT_MS = 60_000;

const groups = (page: Page) => page.getByRole("table", { name: "Summary of activity" });
const group = (page: Page, name: string) =>
  groups(page).getByRole("row").filter({ hasText: name });

const endingWith = (text: string): RegExp => new RegExp(`${text.replace(/[$.]/g, "\\$&")}$`);

/** Compares the ends of the cells after the name, because a cell starts with the label of its card. */
const expectSums = (page: Page, name: string, sums: readonly string[]) =>
  expect(group(page, name).getByRole("cell")).toHaveText([
    new RegExp(name),
    ...sums.map(endingWith),
  ]);

/** A deposit, two transfers that go out, one of them with a tag, and one between own wallets. */
const seedMoves = async (project: TestProject): Promise<void> => {
  const { api, treasury } = project;
  await project.give(CHAIN, "USDC", "100");
  const send = async (toAddress: string, amount: string): Promise<string> => {
    const move = { fromChainId: CHAIN, toChainId: CHAIN, token: "USDC", amount, toAddress };
    const id = await project.execute(await project.prepareTransfer(move));
    expect(await project.untilFinal(id)).toBe("completed");
    return id;
  };
  const id = await send(ADA, "20");
  await api.call(putAnnotation, { params: { id }, body: { memo: "", tags: ["Payroll"] } });
  await send(BOB, "3");
  await expect(async () => {
    const query = { kind: "deposit", status: "completed" };
    expect((await api.call(listActivity, { query })).data).toHaveLength(1);
  }).toPass({ timeout: FINAL_TIMEOUT_MS });
  const move = { fromChainId: CHAIN, toChainId: 31338, token: "USDC", amount: "10" };
  const own = await project.execute(
    await project.prepareTransfer({ ...move, toAddress: treasury.address }),
  );
  expect(await project.untilFinal(own)).toBe("completed");
};

test("movements are summed by month, counterparty, token and tag, and a row opens exactly what it counted", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  await seedMoves(await projectOf(page));
  await page.goto("/activity");
  await page.getByRole("link", { name: "Summary", exact: true }).click();
  await page.waitForURL("**/activity/summary");
  const month = new Intl.DateTimeFormat("en", { month: "long", year: "numeric" }).format();
  await expectSums(page, month, ["4", "$100.00", "$23.00"]);

  const by = page.getByLabel("Sum by", { exact: true });
  await choose(page, by, "Token");
  await expect(groups(page).getByRole("row")).toHaveCount(2);
  await expectSums(page, "USDC", ["4", "100.00 USDC", "23.00 USDC", "$100.00", "$23.00"]);
  await choose(page, by, "Tag");
  await expectSums(page, "Payroll", ["1", "$0.00", "$20.00"]);
  await expectSums(page, "No tag", ["3", "$100.00", "$3.00"]);
  await expect(group(page, "No tag").getByRole("link")).toHaveCount(0);
  await choose(page, by, "Counterparty");
  await expect(page).toHaveURL(/\/activity\/summary\?by=counterparty$/);
  await expectSums(page, "Treasury", ["1", "$0.00", "$0.00"]);
  await expectSums(page, "0x3C44", ["1", "$0.00", "$3.00"]);
  await page.reload();
  await expectSums(page, "0x7099", ["1", "$0.00", "$20.00"]);
  expect(await axeFaults(page)).toEqual([]);

  await group(page, "0x7099").getByRole("link").click();
  await page.waitForURL((url) => url.searchParams.get("counterparty") === ADA);
  const rows = page.getByRole("table", { name: "Activity" }).getByRole("row");
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(1)).toContainText("20.00 USDC");
  await expect(
    page.getByRole("button", { name: /^Remove the filter with 0x7099/ }),
  ).toBeVisible();
});

test("a period without movements says so, and a failed summary can be read again", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/activity/summary?from=2020-01-01&to=2020-01-31");
  await expect(page.getByText("Nothing moved in this period")).toBeVisible();
  await page.route("**/api/activity/summary**", (route) => route.abort());
  await page.goto("/activity/summary");
  await expect(page.getByRole("button", { name: "Try again" })).toBeVisible();
  await page.unroute("**/api/activity/summary**");
  await page.getByRole("button", { name: "Try again" }).click();
  await expect(page.getByText("Nothing moved in this period")).toBeVisible();
});
