import { createContact, listContacts } from "@/lib/contracts/contacts";
import { expect, test, type Page } from "./support/test";
import { approveChange } from "./support/approve-change";
import { axeFaults, checkLooks } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BANK = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
/** An address with the same beginning and end as Ada's. */
const LIKE_ADA = `0x7099${"0".repeat(32)}79c8`;

const choose = async (page: Page, content: string): Promise<void> => {
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page
    .getByRole("dialog", { name: "Import contacts" })
    .locator("input[type=file]")
    .setInputFiles({
      name: "suppliers.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(content),
    });
};

test("contacts are imported from a file: wrong cells are corrected, known ones named, and one code approves all of them", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.api.call(createContact, { body: { name: "Ada", address: ADA } });
  await page.goto("/contacts");
  await choose(
    page,
    [
      "Supplier,Wallet,Network,Groups,Birthday",
      `Ada Lovelace,${ADA},Local 1,Payroll; Berlin,1 May`,
      `Mallory,${LIKE_ADA},,,2 May`,
      "Bank,0x3C44CdDdB6a900fa2b585dd299e03d12FA4293Bc,Polygon,,3 May",
      `,${LIKE_ADA},,,4 May`,
    ].join("\n"),
  );
  const mapping = page.getByRole("dialog", { name: "Match the columns" });
  await expect(
    mapping.getByRole("region", { name: "Columns that are not read" }),
  ).toContainText("E · Birthday");
  expect(await axeFaults(page)).toEqual([]);
  await mapping.getByRole("button", { name: "Use 4 rows" }).click();

  const review = page.getByRole("dialog", { name: "Check the contacts" });
  await expect(review.getByText("2 rows have errors")).toBeVisible();
  await expect(review.getByText("Address: The checksum is wrong")).toBeVisible();
  await expect(review.getByText('Chains: "Polygon" is no chain')).toBeVisible();
  await expect(review.getByText("Row 2 has this address already.")).toBeVisible();
  await checkLooks(page, "import of contacts with errors");
  await review.getByLabel("Row 3 address").fill(BANK);
  await review.getByLabel("Row 3 chains").fill("");
  await expect(review.getByText("1 row has errors")).toBeVisible();
  await review.getByRole("button", { name: "Remove the rows with errors" }).click();

  // The service has checked the three rows that are left.
  await expect(
    review.getByText("2 new contacts; 1 address is in the address book"),
  ).toBeVisible();
  await expect(review.getByText("In the address book as “Ada”.")).toBeVisible();
  await expect(review.getByText("1 contact needs a look")).toBeVisible();
  await expect(review.getByText("begins and ends like")).toBeVisible();
  await expect(review.getByRole("button", { name: "Import 2 contacts" })).toBeVisible();
  await review.getByRole("radio", { name: "Update" }).click();
  await checkLooks(page, "import of contacts");
  await review.getByRole("button", { name: "Import 3 contacts" }).click();

  const approving = page.getByRole("dialog", { name: "Approve 3 contacts" });
  await expect(approving.getByRole("list", { name: "Contacts to approve" })).toContainText(
    "Mallory",
  );
  expect(await axeFaults(page)).toEqual([]);
  await approving.getByRole("button", { name: "Approve 3 contacts" }).click();
  const change = approving.getByRole("region", { name: "Change to approve" });
  await expect(change).toContainText(`"Bank", ${BANK}, every chain`);
  await approveChange(page, project);
  await expect(approving).toHaveCount(0);
  const { data } = await project.api.call(listContacts);
  expect(data).toMatchObject([
    { name: "Ada Lovelace", tags: ["Payroll", "Berlin"], chainIds: [31337], state: "approved" },
    { name: "Bank", address: BANK, chainIds: [], state: "approved" },
    { name: "Mallory", state: "approved" },
  ]);
  await expect(page.getByRole("row", { name: /^Bank/ })).toContainText("Approved");
});

test("a bank's payment file is no list of contacts, and pasted rows are", async ({ page }) => {
  await signIn(page.request);
  await page.goto("/contacts");
  await choose(page, "<?xml version='1.0'?><Document/>");
  const dialog = page.getByRole("dialog", { name: "Import contacts" });
  await expect(dialog.getByText("suppliers.csv was not read")).toBeVisible();
  await dialog.getByRole("button", { name: "Paste rows" }).click();
  const paste = page.getByRole("dialog", { name: "Paste rows" });
  await paste.getByLabel("Rows").fill(`Ada,${ADA}`);
  await paste.getByRole("button", { name: "Read rows" }).click();
  await page.getByRole("button", { name: "Use 1 row" }).click();
  await page.getByRole("button", { name: "Import 1 contact" }).click();
  await page
    .getByRole("dialog", { name: "Approve 1 contact" })
    .getByRole("button", { name: "Cancel" })
    .click();
  await expect(page.getByRole("row", { name: /^Ada/ })).toContainText("Proposed");
});
