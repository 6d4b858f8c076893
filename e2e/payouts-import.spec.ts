import { expect, test, type Page } from "./support/test";
import { axeFaults, checkLooks } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const A = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const B = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";

const choose = async (page: Page, name: string, content: string): Promise<void> => {
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name, mimeType: "text/plain", buffer: Buffer.from(content) });
};

test("of two columns of amounts the person chooses one; rows that are not understood are removed at once", async ({
  page,
}) => {
  await signIn(page.request);
  await page.goto("/payouts/new");
  await choose(
    page,
    "payroll.csv",
    [
      "Name,Wallet,Amount,Token,Amount,Network,Birthday",
      `Ada,${A},5000,USDC,50,Local 1,1 May`,
      `Bob,${B},7000,USDC,12 50,Local 1,2 May`,
      `Cem,${B},7000,USDC,70,Polygon,3 May`,
      `Dee,${B},7000,,70,Local 1,4 May`,
    ].join("\n"),
  );
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await expect(mapping.getByRole("button", { name: "Use 4 rows" })).toBeDisabled();
  const unread = mapping.getByRole("region", { name: "Columns that are not read" });
  await expect(unread).toContainText("A · Name: Ada · Bob · Cem");
  await expect(unread).toContainText("G · Birthday: 1 May · 2 May · 3 May");
  await checkLooks(page, "mapping-question");
  const question = mapping.getByRole("region", { name: "Column of the amount" });
  await expect(question.getByRole("radio", { name: "C · Amount" })).toContainText(
    "5000 · 7000",
  );
  await question.getByRole("radio", { name: "E · Amount" }).click();
  await expect(question).toHaveCount(0);
  await expect(unread).toContainText("C · Amount: 5000 · 7000");
  await mapping.getByRole("button", { name: "Use 4 rows" }).click();

  const table = page.getByRole("table", { name: "Recipients" });
  await expect(page.getByText("3 rows have errors")).toBeVisible();
  await expect(table.getByText('Amount: "12 50" was not understood')).toBeVisible();
  await expect(
    table.getByText('Row: The file says "Polygon" for the chain of this row'),
  ).toBeVisible();
  await expect(
    table.getByText("Token: The cell is empty. Enter the token that this row pays."),
  ).toBeVisible();
  // The total counts only the row that will be paid.
  const total = page.getByRole("region", { name: "Total", exact: true });
  await expect(total.getByText("3, not in the total")).toBeVisible();
  await expect(total).toContainText(/50\.00 ?USDC/);
  await checkLooks(page, "rows-refused");
  // A cell that gets the focus without a change keeps its error.
  await table.getByLabel("Row 2 amount").focus();
  await page.keyboard.press("Tab");
  await expect(page.getByText("3 rows have errors")).toBeVisible();
  await page.getByRole("button", { name: "Remove the rows with errors" }).click();
  await expect(page.getByText("rows have errors")).toHaveCount(0);
  await expect(table.getByRole("row")).toHaveCount(2);
  await expect(page.getByLabel("Row 1 amount")).toHaveValue("50");
});

test("pasted lines of an address and an amount are read", async ({ page }) => {
  await signIn(page.request);
  await page.goto("/payouts/new");
  await page.getByRole("button", { name: "Paste rows" }).click();
  await page
    .getByRole("dialog", { name: "Paste rows" })
    .getByLabel("Rows")
    .fill(`${A} 5\n${B}=12.5`);
  await page.getByRole("button", { name: "Read rows" }).click();
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await expect(
    mapping.getByText("Every row pays USDC, which is chosen on the page."),
  ).toBeVisible();
  await mapping.getByRole("button", { name: "Use 2 rows" }).click();
  await expect(page.getByLabel("Row 1 recipient")).toHaveValue(A);
  await expect(page.getByLabel("Row 1 amount")).toHaveValue("5");
  await expect(page.getByLabel("Row 2 amount")).toHaveValue("12.5");
});

const payment = (name: string, iban: string, currency: string, amount: string): string =>
  `<CdtTrfTxInf><PmtId><EndToEndId>E-${name}</EndToEndId></PmtId><Amt><InstdAmt Ccy="${currency}">${amount}</InstdAmt></Amt>
   <Cdtr><Nm>${name}</Nm></Cdtr><CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct><Purp><Cd>SALA</Cd></Purp></CdtTrfTxInf>`;

test("a bank's file asks for the address of each payee and the token of each currency", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await project.addApproved({ name: "Studio North", address: A });
  await page.goto("/payouts/new");
  const payments = [
    payment("Studio North", "DE89370400440532013000", "USD", "1250.50"),
    payment("Bob", "FR7630006000011234567890189", "USD", "20"),
    payment("Cem", "NL91ABNA0417164300", "EUR", "30"),
  ];
  await choose(
    page,
    "salaries.xml",
    `<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn>
     <GrpHdr><NbOfTxs>3</NbOfTxs><CtrlSum>1300.50</CtrlSum></GrpHdr><PmtInf><PmtMtd>TRF</PmtMtd>${payments.join("")}</PmtInf>
     </CstmrCdtTrfInitn></Document>`,
  );
  const matching = page.getByRole("dialog", { name: "Match the payees" });
  const use = matching.getByRole("button", { name: "Use 3 rows" });
  await expect(use).toBeDisabled();
  await expect(
    matching.getByText("Local 1 has no token for it; amounts are not converted."),
  ).toBeVisible();
  await checkLooks(page, "bank-file");
  await matching.getByLabel("USD, 2 payments").click();
  await page.getByRole("option", { name: "USDC, one for one" }).click();
  await matching.getByLabel("EUR, 1 payment").click();
  await page.getByRole("option", { name: "Not paid: keep as errors" }).click();
  await matching.getByRole("button", { name: "Use the contact Studio North" }).click();
  await matching.getByLabel("Recipient for Bob").fill(B);
  await expect(matching.getByText("1 payee has none yet and will be an error.")).toBeVisible();
  await expect(
    matching.getByRole("region", { name: "Elements that are not read" }),
  ).toContainText("Purp/Cd: SALA");
  expect(await axeFaults(page)).toEqual([]);
  await use.click();
  await expect(page.getByText("1 row has errors")).toBeVisible();
  await expect(page.getByText("Token: No token was chosen for EUR.")).toBeVisible();
  await expect(page.getByLabel("Row 1 recipient")).toHaveValue(A);
  await expect(page.getByLabel("Row 1 amount")).toHaveValue("1250.50");
  await expect(page.getByLabel("Row 1 note")).toHaveValue(
    "Studio North, DE89370400440532013000",
  );
  await page.getByRole("button", { name: "Remove the rows with errors" }).click();
  await expect(page.getByRole("table", { name: "Recipients" }).getByRole("row")).toHaveCount(3);
});
