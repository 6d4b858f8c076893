import { readFile } from "node:fs/promises";
import { createWalletsPayout } from "@/lib/contracts/payouts";
import { listAnnotations, putAnnotation } from "@/lib/contracts/annotations";
import { expect, test, type Page } from "./support/test";
import { axeFaults, checkLooks } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const CHAIN = 31337;

const bar = (page: Page) => page.getByRole("region", { name: "Selected rows" });
const boxes = (page: Page, caption: string) =>
  page.getByRole("table", { name: caption }).getByRole("checkbox");

const exportedIds = async (page: Page): Promise<readonly (string | undefined)[]> => {
  const download = page.waitForEvent("download");
  await bar(page).getByRole("button", { name: "Export CSV" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^causeway-activity-selected-/);
  const text = await readFile(await file.path(), "utf8");
  return text
    .trim()
    .split("\r\n")
    .slice(1)
    .map((line) => line.split(",")[0]);
};

test("movements are selected by click, range and key, tagged, and exported; a row that fails says why and stays selected", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  const ids: string[] = [];
  for (const amount of ["1", "2", "3"])
    ids.push(
      await project.execute(
        await project.prepareTransfer({
          fromChainId: CHAIN,
          toChainId: CHAIN,
          toAddress: ADA,
          token: "USDC",
          amount,
        }),
      ),
    );
  for (const id of ids) expect(await project.untilFinal(id)).toBe("completed");
  await page.goto("/activity?kind=transfer");
  const all = boxes(page, "Activity");
  await expect(all).toHaveCount(3);
  const row = page.getByRole("table", { name: "Activity" }).getByRole("row").nth(1);
  const before = await row.boundingBox();
  expect(before?.height).toBeLessThanOrEqual(37);
  const column = await row.getByRole("cell").first().boundingBox();
  expect(column?.width).toBeGreaterThanOrEqual(24);
  expect(column?.width).toBeLessThanOrEqual(32);

  // A range by Shift, one by its key, and none after the filters changed.
  await all.nth(0).click();
  await expect(bar(page)).toContainText("1 selected");
  await all.nth(2).click({ modifiers: ["Shift"] });
  await expect(bar(page)).toContainText("3 selected");
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("x");
  await expect(bar(page)).toContainText("2 selected");
  await expect(all.nth(1)).not.toBeChecked();
  await checkLooks(page, "activity with selected rows");
  expect(await exportedIds(page)).toEqual([ids[2], ids[0]]);
  await page.getByLabel("Search").fill("usdc");
  await expect(bar(page)).toHaveCount(0);
  await page.getByLabel("Search").fill("");
  // The address follows the field after a moment, and the selection ends with each of its changes.
  await expect(page).toHaveURL(/\/activity\?kind=transfer$/);
  await expect(all).toHaveCount(3);
  await expect(all.nth(0)).not.toBeChecked();

  // One has ten tags already, so that it takes no further one.
  const tags = Array.from({ length: 10 }, (_, index) => `Tag ${String(index)}`);
  await project.api.call(putAnnotation, { params: { id: ids[0] ?? "" }, body: { tags } });
  await project.api.call(putAnnotation, {
    params: { id: ids[1] ?? "" },
    body: { memo: "Rent", tags: ["Berlin"] },
  });
  await all.nth(0).click();
  await all.nth(2).click({ modifiers: ["Shift"] });
  await bar(page).getByRole("button", { name: "Tag" }).click();
  const dialog = page.getByRole("dialog", { name: "Tag 3 movements" });
  await dialog.getByLabel("Tags").fill("May");
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Add tags" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(bar(page)).toContainText("1 of them failed, and is still selected");
  await expect(bar(page)).toContainText("1 selected");
  await expect(all.nth(2)).toBeChecked();
  await checkLooks(page, "a bulk act that failed for one row");
  const { data } = await project.api.call(listAnnotations, { query: { ids: ids.join(",") } });
  const found = new Map(data.map((one) => [one.id, one]));
  expect(found.get(ids[0] ?? "")?.tags).toEqual(tags);
  expect(found.get(ids[1] ?? "")).toMatchObject({ memo: "Rent", tags: ["Berlin", "May"] });
  expect(found.get(ids[2] ?? "")).toMatchObject({ memo: "", tags: ["May"] });
});

test("payouts are selected on a phone behind a button, and exported", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  const ids: string[] = [];
  for (const amount of ["1", "2"])
    ids.push(
      (
        await project.api.call(createWalletsPayout, {
          body: { chainId: CHAIN, transfers: [{ address: ADA, amount, token: "USDC" }] },
        })
      ).payoutId ?? "",
    );
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto("/payouts");
  const all = boxes(page, "Payouts");
  await expect(page.getByRole("table", { name: "Payouts" }).getByRole("row")).toHaveCount(3);
  await expect(all.first()).toBeHidden();
  await page.getByRole("button", { name: "Select", exact: true }).click();
  await all.nth(1).check();
  await expect(bar(page)).toContainText("1 selected");
  // Both wait for an approval, so none has failed rows.
  await expect(bar(page).getByRole("button", { name: "Retry failed rows" })).toHaveCount(0);
  await checkLooks(page, "payouts with a selected card");
  expect(await exportedIds(page)).toEqual([ids[0]]);
  await page.setViewportSize({ width: 390, height: 844 });
  await bar(page).getByRole("button", { name: "Clear" }).click();
  await expect(bar(page)).toHaveCount(0);
  await expect(all.first()).toBeHidden();
});
