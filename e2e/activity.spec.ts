import { readFile } from "node:fs/promises";
import { expect, test, type Page } from "./support/test";
import { createTestClient, http } from "viem";
import { cancelOperation } from "@/lib/contracts/operations";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { axeFaults } from "./support/axe";
import { choose, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { seedProject } from "./support/seed";
import { signIn } from "./support/sign-in";
import { expectNoHigherThan } from "./support/sizes";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

const rows = (page: Page) => page.getByRole("table", { name: "Activity" }).getByRole("row");

const exportedLines = async (page: Page): Promise<string[][]> => {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: "CSV", exact: true }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^causeway-activity-\d{4}-\d{2}-\d{2}\.csv$/);
  const text = await readFile(await file.path(), "utf8");
  return text
    .trim()
    .split("\r\n")
    .map((line) => line.split(","));
};

test("filters live in the address and survive a reload, and the file holds exactly what they let through", async ({
  page,
}) => {
  test.setTimeout(240_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  await project.give(31338, "DAI", "100");
  const moves = [
    { fromChainId: 31337, toChainId: 31337, token: "USDC", amount: "1", toAddress: ADA },
    { fromChainId: 31337, toChainId: 31339, token: "USDC", amount: "20", toAddress: ADA },
    { fromChainId: 31338, toChainId: 31338, token: "DAI", amount: "3", toAddress: ADA },
  ];
  const ids: string[] = [];
  for (const move of moves)
    ids.push(await project.execute(await project.prepareTransfer(move)));
  for (const id of ids) expect(await project.untilFinal(id)).toBe("completed");

  await page.goto("/activity");
  // The two payments from the faucet are deposits.
  await expect(rows(page)).toHaveCount(6);
  await choose(page, page.getByLabel("Kind", { exact: true }), "Transfer");
  await choose(page, page.getByLabel("Chain", { exact: true }), "Local 1");
  await page.getByLabel("Search").fill("usdc");
  await expect(rows(page)).toHaveCount(3);
  // Filters by both chains, and then removes the first one from the filter.
  await choose(page, page.getByLabel("Chain", { exact: true }), "Local 3");
  await expect(
    page.getByRole("button", { name: "Remove the filter Local 1 or Local 3" }),
  ).toBeVisible();
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("option", { name: "Local 1" }).click();
  await choose(page, page.getByLabel("Wallet", { exact: true }), /^Treasury/);
  await page.getByLabel("From", { exact: true }).fill("2026-01-01");
  await expect(rows(page)).toHaveCount(2);
  await expect
    .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
    .toEqual({
      kind: "transfer",
      chain: "31339",
      wallet: project.treasury.id,
      from: "2026-01-01",
      q: "usdc",
    });
  await page.reload();
  await expect(rows(page)).toHaveCount(2);
  await expect(
    page.getByRole("list", { name: "Filters in use" }).getByRole("listitem"),
  ).toHaveCount(6);
  expect(await axeFaults(page)).toEqual([]);
  const [header, ...lines] = await exportedLines(page);
  expect(header?.[0]).toMatch(/^\uFEFF?id$/);
  expect(lines.map((line) => line[0])).toEqual([ids[1]]);

  await page.getByRole("button", { name: "Remove the filter Local 3" }).click();
  await expect(rows(page)).toHaveCount(3);
  await page
    .getByRole("list", { name: "Filters in use" })
    .getByRole("button", { name: "Show all" })
    .click();
  await expect(rows(page)).toHaveCount(6);
  await expect(page).toHaveURL(/\/activity$/);
  const all = (await exportedLines(page)).slice(1);
  expect(all.filter((line) => line[1] === "transfer").map((line) => line[0])).toEqual(
    [...ids].reverse(),
  );
  expect(all.filter((line) => line[1] === "deposit")).toHaveLength(2);

  // A deposit is found some time after its block, so it may stand between the transfers. Row 0 is
  // the header.
  const second = await rows(page).nth(2).getByRole("link").first().getAttribute("href");
  await page.locator("body").press("j");
  await page.locator("body").press("j");
  await page.locator("body").press("Enter");
  await page.waitForURL((url) => url.pathname === second);
});

test("memos are written, searched and filed; several statuses, presets and saved views narrow the list", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  const [first, second] = [await wait(project), await wait(project)];
  await project.api.call(cancelOperation, { params: { id: second } });

  await page.goto(`/activity/${first}`);
  await page.getByRole("button", { name: "Add a memo" }).click();
  const dialog = page.getByRole("dialog", { name: "Memo and tags" });
  await dialog.getByLabel("Memo", { exact: true }).fill("Rent of the studio");
  await dialog.getByLabel("Tags").fill("Rent, Berlin");
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Rent of the studio")).toBeVisible();
  await page.getByRole("list", { name: "Tags" }).getByRole("link", { name: "Berlin" }).click();
  await expect(page).toHaveURL(/tag=Berlin/);
  await expect(rows(page)).toHaveCount(2);
  await expect(rows(page).nth(1)).toContainText("Rent of the studio");
  expect(await axeFaults(page)).toEqual([]);
  const [header, line] = await exportedLines(page);
  expect(header?.slice(-2)).toEqual(["memo", "tags"]);
  expect(line?.join(",")).toContain("Rent of the studio");

  await page.getByRole("button", { name: "Show all" }).click();
  await page.getByLabel("Search").fill("studio");
  await expect(rows(page)).toHaveCount(2);
  await page.getByLabel("Search").fill("");
  // The rows are the header, two swaps, and the deposit from the faucet that funds them.
  await expect(rows(page)).toHaveCount(4);
  await choose(page, page.getByLabel("Status", { exact: true }), "Cancelled");
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole("option", { name: "Pending" }).click();
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await expect(rows(page)).toHaveCount(3);
  await page.getByRole("button", { name: "Dates" }).click();
  await page.getByRole("menuitem", { name: "Today" }).click();
  await expect(rows(page)).toHaveCount(3);

  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Save or remove views" }).click();
  await page.getByLabel("Name of the view").fill("Mine of today");
  await page.getByRole("button", { name: "Save view" }).click();
  const saved = new URL(page.url()).search;
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: "PDF" }).click();
  const file = await readFile(await (await download).path(), "latin1");
  expect(file).toMatch(/^%PDF-1\.4/);
  expect(file).toContain(ADA);

  await page.goto("/activity");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("menuitem", { name: "Mine of today" }).click();
  await expect.poll(() => new URL(page.url()).search).toBe(saved);
  await expect(rows(page)).toHaveCount(3);
});

const wait = async ({ api, treasury }: TestProject): Promise<string> => {
  const { operationId, subStatus } = await api.call(swapAndTransfer, {
    body: {
      fromWalletId: treasury.id,
      fromChainId: 31337,
      toChainId: 31337,
      fromToken: "USDC",
      toToken: "DAI",
      amount: "10",
      recipient: ADA,
    },
  });
  expect(subStatus).toBe("awaiting_approval");
  return operationId;
};

test("what waits for an approval stands on the overview, and is approved with a code or cancelled", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "100");
  const [first, second] = [await wait(project), await wait(project)];

  await page.goto("/");
  const waiting = page.getByRole("region", { name: "Waiting for you" });
  await expect(waiting.getByRole("link", { name: /^Review / })).toHaveCount(2);
  expect(await axeFaults(page)).toEqual([]);
  await waiting.getByRole("link", { name: "All 2" }).click();
  await expect(page).toHaveURL(/\/inbox$/);
  await page.goto("/activity?status=pending");
  await expect(rows(page)).toHaveCount(3);

  await page.goto(`/activity/${first}`);
  await expect(page.getByText("Waiting for approval. Nothing was sent.").first()).toBeVisible();
  await page.getByRole("button", { name: "Review and approve" }).click();
  const dialog = page.getByRole("dialog", { name: "Review the operation" });
  await expect(page).toHaveURL(/approve=true/);
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await page.reload();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  // The tab forgets that a code was mailed, as when the page is left before the answer. The code can
  // still be typed.
  await page.evaluate(() => sessionStorage.clear());
  await page.reload();
  await expect(dialog.getByText(/^A code was sent already\./)).toBeVisible();
  await expect(dialog.getByRole("alert")).toHaveCount(0);
  expect(await axeFaults(page)).toEqual([]);
  await typeCode(page, await project.code());
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });

  await page.goto(`/activity/${second}`);
  await page.getByRole("button", { name: "Cancel the operation" }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: "Cancel the operation" })
    .click();
  await expect(page.getByText("Cancelled. Nothing was sent.").first()).toBeVisible();
  await expect(page.getByRole("button", { name: "Review and approve" })).toHaveCount(0);
});

test("what failed is tried again from its page, once, and both say so", async ({ page }) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "ETH", "1");
  // After all checks, the recipient becomes a contract that refuses coins, so the transfer fails.
  const recipient = `0x${crypto.randomUUID().replaceAll("-", "")}00000000` as const;
  const chain = createTestClient({
    mode: "anvil",
    transport: http(process.env.E2E_RPC_URL_31337),
  });
  const move = {
    fromChainId: 31337,
    toChainId: 31337,
    token: "native",
    amount: "0.25",
    toAddress: recipient,
  };
  const transferId = await project.prepareTransfer(move);
  await chain.setCode({ address: recipient, bytecode: "0xfe" });
  const failed = await project.execute(transferId);
  await page.goto(`/activity/${failed}`);
  await expect(page.getByText("Failed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
  expect(await axeFaults(page)).toEqual([]);
  await chain.setCode({ address: recipient, bytecode: "0x" });

  await page.getByRole("button", { name: "Retry …" }).click();
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await page.waitForURL((url) => !url.pathname.endsWith(failed));
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });
  await expect(page.getByText("Retries the failed parts of")).toBeVisible();
  await page.goto(`/activity/${failed}`);
  await expect(page.getByText("Retried by")).toBeVisible();
  await expect(page.getByRole("button", { name: "Retry …" })).toHaveCount(0);
});

/** Height of two lines of text with the padding of a row, in pixels. */
const ROW_HEIGHT_MAX = 60;

test("payouts, fundings and private moves stand among the operations, in rows of at most two lines, and link to their pages", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  await seedProject(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto("/activity");
  const table = page.getByRole("table", { name: "Activity" });
  const pages = {
    "Contractors, May": /^\/payouts\/po_/,
    "123.45 USDC to 1 recipient": /^\/payouts\/po_/,
    "Account funding": /^\/accounts\/ga_/,
    Shield: /^\/private\/tr_/,
    Transfer: /^\/activity\/op_/,
  };
  for (const [name, path] of Object.entries(pages))
    await expect(table.getByRole("link", { name, exact: true }).first()).toHaveAttribute(
      "href",
      path,
    );
  await expectNoHigherThan(table.locator("tbody tr"), ROW_HEIGHT_MAX);
  const funding = table.getByRole("row").filter({ hasText: "Account funding" });
  await expect(funding).toContainText("Reserves");
  await expect(funding).toContainText("$300.00");

  await choose(page, page.getByLabel("Kind", { exact: true }), "Payout to accounts");
  await page.keyboard.press("Escape");
  await expect(rows(page)).toHaveCount(2);
  const [header, line] = await exportedLines(page);
  expect(header?.[1]).toBe("kind");
  expect(line?.[1]).toBe("payout_to_accounts");
  expect(line?.[header?.indexOf("title") ?? -1]).toBe("123.45 USDC to 1 recipient");
  await page.locator("body").press("j");
  await page.locator("body").press("Enter");
  await page.waitForURL(/\/payouts\/po_/);
  await expect(
    page.getByRole("heading", { level: 1, name: "123.45 USDC to 1 recipient" }),
  ).toBeVisible();
});

test("the whole list is written in the background, and the page offers the file with its progress", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "7");
  await page.goto("/activity");
  await expect(rows(page)).toHaveCount(2);
  await page.getByRole("button", { name: "Export", exact: true }).click();
  await page.getByRole("menuitem", { name: /in the background$/ }).click();
  await page.waitForURL("**/activity/exports");
  const table = page.getByRole("table", { name: "Exports" });
  await expect(table.getByText("Activity, CSV")).toBeVisible();
  await expect(table.getByText("Ready")).toBeVisible({ timeout: 30_000 });
  expect(await axeFaults(page)).toEqual([]);
  const download = page.waitForEvent("download");
  await table.getByRole("button", { name: "Download" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/^activity-\d{4}-\d{2}-\d{2}\.csv$/);
  const lines = (await readFile(await file.path(), "utf8")).trim().split("\r\n");
  expect(lines).toHaveLength(2);
  expect(lines[1]).toContain(",deposit,");
});
