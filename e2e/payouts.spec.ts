import { readFileSync } from "node:fs";
import { expect, test, type Page } from "./support/test";
import { xlsxOf } from "@/components/features/file-import/testing";
import { axeFaults, checkLooks } from "./support/axe";
import { balanceOnChain } from "./support/chain";
import { typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";
import { expectNoHigherThan } from "./support/sizes";

/** Height of three lines of text with padding, in pixels. */
const CARD_HEIGHT_MAX = 108;
const ROWS = 200;
const CHAIN = 31337;

/** Makes addresses that have not been used on the chain. */
const SALT = BigInt(Date.now()) << 40n;
const recipient = (row: number): string =>
  `0x${(SALT + BigInt(row)).toString(16).padStart(40, "a")}`;

/**
 * A file as a European spreadsheet saves it. Three cells have errors, and the last row repeats the
 * first one.
 */
const payoutFile = (): string => {
  const line = (row: number): string =>
    `${recipient(row)};${(10 + row / 4).toFixed(2).replace(".", ",")};USDC;INV-${String(row)};`;
  const rows = Array.from({ length: ROWS }, (_, row) => line(row));
  rows[1] = rows[1]?.replace("10,25", "=10+1") ?? "";
  rows[4] = rows[4]?.replace(recipient(4), recipient(4).slice(0, 30)) ?? "";
  rows[7] = rows[7]?.replace("USDC", "ABC") ?? "";
  return ["Wallet;Amount;Currency;Invoice;Note", ...rows, line(0)].join("\r\n");
};

/** Drops a file on the page, as a person would. */
const drop = async (page: Page, name: string, content: string): Promise<void> => {
  const transfer = await page.evaluateHandle(
    ({ name, content }) => {
      const data = new DataTransfer();
      data.items.add(new File([content], name, { type: "text/csv" }));
      return data;
    },
    { name, content },
  );
  await page
    .getByText("Drop a CSV or XLSX file here")
    .dispatchEvent("drop", { dataTransfer: transfer });
};

const mapColumns = async (page: Page): Promise<void> => {
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await expect(mapping.getByText(`contractors.csv, ${String(ROWS + 1)} rows`)).toBeVisible();
  await expect(mapping.getByLabel("Reference")).toHaveText("Invoice");
  await expect(
    mapping.getByRole("table", { name: "Preview" }).getByText("10.50"),
  ).toBeVisible();
  await checkLooks(page, "mapping");
  await mapping.getByRole("button", { name: `Use ${String(ROWS + 1)} rows` }).click();
};

/** Checks that every error is shown at its cell, and corrects each by keyboard only. */
const mendRows = async (page: Page): Promise<void> => {
  await expect(page.getByText("3 rows have errors")).toBeVisible();
  await expect(page.getByText("1 row may be paid twice")).toBeVisible();
  await page.getByLabel("Show only errors").check();
  const table = page.getByRole("table", { name: "Recipients" });
  await expect(table.getByRole("row")).toHaveCount(4);
  await expect(
    table.getByText('Amount: "=10+1" was not understood: write digits only, such as 1250.50.'),
  ).toBeVisible();
  await expect(table.getByText("Recipient: This is not an address")).toBeVisible();
  await expect(table.getByText('Token: Local 1 has no token "ABC".')).toBeVisible();
  await checkLooks(page, "rows");
  await table.getByLabel("Row 2 amount").focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type("1,010.25");
  await page.keyboard.press("Tab");
  await expect(page.getByText("2 rows have errors")).toBeVisible();
  await table.getByLabel("Row 5 recipient").fill(recipient(4));
  await table.getByLabel("Row 8 token").fill("usdc");
  await expect(page.getByText("All errors are fixed")).toBeVisible();
};

const approve = async (page: Page, project: TestProject): Promise<void> => {
  await page.waitForURL(/\/payouts\/po_/);
  const dialog = page.getByRole("dialog", { name: "Review the payout" });
  const recipients = dialog.getByRole("region", { name: "Recipients" }).getByRole("listitem");
  await expect(recipients.filter({ hasText: "Studio North" })).toContainText(/10\.50 ?USDC/);
  await expect(recipients).toHaveCount(50);
  await expect(
    dialog.getByRole("button", { name: `Show more (${String(ROWS + 1 - 50)} left)` }),
  ).toBeVisible();
  // The link opens another tab, because the person enters the code in this one.
  const all = dialog.getByRole("link", { name: `All ${String(ROWS + 1)} rows in a new tab` });
  await expect(all).toHaveAttribute("href", /^\/payouts\/po_[^?]+#rows$/);
  await expect(all).toHaveAttribute("target", "_blank");
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await checkLooks(page, "approval");
  await typeCode(page, await project.code());
  await expect(dialog).toHaveCount(0);
};

const checkReceipt = async (page: Page): Promise<void> => {
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Rows as CSV" }).click();
  const lines = readFileSync(await (await download).path(), "utf8")
    .trim()
    .split("\r\n");
  expect(lines).toHaveLength(ROWS + 2);
  for (const line of lines.slice(1)) expect(line).toMatch(/,paid,\d+,0x[0-9a-f]{64},/);
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: "Receipt for print or PDF" }).click();
  await expect(
    page.getByText(`${String(ROWS + 1)} of ${String(ROWS + 1)} rows paid.`, { exact: true }),
  ).toBeVisible();
  // A printed receipt shows the name and the whole address, because paper has no tooltips.
  const named = page.getByRole("row", { name: /Studio North/ });
  await expect(named.getByText(recipient(2))).toBeVisible();
  await checkLooks(page, "receipt");
};

test("a file is dropped, mended, approved by code and paid on chain; its receipt names every transaction", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "50000");
  await project.addApproved({ name: "Studio North", address: recipient(2) });

  await page.goto("/payouts/new");
  await drop(page, "contractors.csv", payoutFile());
  await mapColumns(page);
  await mendRows(page);
  // The corrections survive a reload.
  await page.reload();
  await expect(page.getByText(`${String(ROWS + 1)} rows`)).toBeVisible();
  await expect(page.getByText("1 row may be paid twice")).toBeVisible();
  await expect(page.getByText("have errors")).toHaveCount(0);
  await page.getByRole("button", { name: "Review payout" }).click();
  await page.getByLabel("Pay duplicates anyway").check();
  await page.getByRole("button", { name: "Review payout" }).click();
  await approve(page, project);

  await expect(
    page.getByText(`${String(ROWS + 1)} of ${String(ROWS + 1)} rows paid.`).first(),
  ).toBeVisible({
    timeout: 60_000,
  });
  const rows = page.getByRole("table", { name: "Rows" });
  await expect(rows.getByRole("row", { name: /Studio North/ }).getByText("Paid")).toBeVisible();
  await checkLooks(page, "payout");
  await page.setViewportSize({ width: 390, height: 844 });
  // Three lines: recipient and amount, reference and state, transaction.
  await expectNoHigherThan(rows.getByRole("row"), CARD_HEIGHT_MAX);
  await page.setViewportSize({ width: 1280, height: 800 });
  for (const [row, amount] of [
    [0, "20"],
    [1, "1010.25"],
    [4, "11"],
    [ROWS - 1, "59.75"],
  ] as const)
    expect(
      await balanceOnChain(page, CHAIN, "USDC", recipient(row)),
      `row ${String(row)}`,
    ).toBe(amount);
  await checkReceipt(page);

  await page.goto("/payouts?kind=wallets");
  await expect(page.getByText(`${String(ROWS + 1)} of ${String(ROWS + 1)} paid`)).toBeVisible();
  expect(problems).toEqual([]);
});

test("a file that cannot be paid is refused when it is chosen; a spreadsheet is read, and unclear amounts are asked about", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/payouts/new");
  const file = page.locator("input[type=file]").first();
  const lines = `address,amount\n${`${recipient(1)},1\n`.repeat(100_000)}`;
  await file.setInputFiles({
    name: "large.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(lines),
  });
  await expect(
    page.getByText(
      "The file has 100,001 rows; a payout takes at most 10,000. Split it into 11 files.",
    ),
  ).toBeVisible();
  await file.setInputFiles({
    name: "long.csv",
    mimeType: "text/csv",
    buffer: Buffer.alloc(20 * 1024 * 1024, "x"),
  });
  await expect(
    page.getByText("The file has 20 MiB; at most 16 MiB can be read."),
  ).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);

  const sheet = xlsxOf([
    ["address", "amount"],
    [recipient(1), "1.250"],
    [recipient(2), 12.345],
  ]);
  await file.setInputFiles({
    name: "payroll.xlsx",
    mimeType: "application/zip",
    buffer: sheet,
  });
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await expect(mapping.getByRole("button", { name: "Use 2 rows" })).toBeDisabled();
  await mapping.getByRole("radio", { name: "Decimal comma 1.250 is 1250" }).click();
  expect(await axeFaults(page)).toEqual([]);
  await mapping.getByRole("button", { name: "Use 2 rows" }).click();
  await expect(page.getByLabel("Row 1 amount")).toHaveValue("1250");
  await expect(page.getByLabel("Row 2 amount")).toHaveValue("12.345");
});
