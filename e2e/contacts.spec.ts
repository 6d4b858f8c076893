import { createContact } from "@/lib/contracts/contacts";
import { expect, test, type Page } from "./support/test";
import { approveChange } from "./support/approve-change";
import { axeFaults, checkLooks, settle } from "./support/axe";
import { countShifts, expectStill } from "./support/layout-shifts";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
/** An address with the same beginning and end as Ada's. */
const LIKE_ADA = `0x7099${"0".repeat(32)}79c8`;

interface NewContact {
  readonly name: string;
  readonly address: string;
  readonly tags?: string;
  readonly chain?: string;
}

const add = async (page: Page, contact: NewContact): Promise<void> => {
  await page.getByRole("button", { name: "Add contact" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Add a contact" });
  await dialog.getByLabel("Name", { exact: true }).fill(contact.name);
  await dialog.getByLabel("Address", { exact: true }).fill(contact.address);
  if (contact.tags !== undefined) await dialog.getByLabel("Tags").fill(contact.tags);
  if (contact.chain !== undefined)
    await dialog.getByLabel(contact.chain, { exact: true }).check();
  await dialog.getByRole("button", { name: "Save contact" }).click();
  await expect(dialog).toHaveCount(0);
};

const rows = (page: Page) => page.getByRole("table", { name: "Contacts" }).getByRole("row");

/**
 * The row of the contact with this name. A row that only warns about a similar name contains it
 * further to the right.
 */
const rowOf = (page: Page, name: string) =>
  page.getByRole("row", { name: new RegExp(`^${name}`) });

const act = async (page: Page, name: string, action: string): Promise<void> => {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
};

test("a contact is added with tags and a chain, found, flagged where it looks like another, renamed and deleted", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  await page.goto("/contacts");
  await expect(page.getByText("No contacts yet")).toBeVisible();
  await add(page, { name: "Ada", address: ADA, tags: "Payroll, Berlin", chain: "Local 1" });
  const ada = rowOf(page, "Ada");
  await expect(ada).toContainText("Local 1");
  await expect(ada).toContainText("Proposed");
  await expect(ada.getByRole("link", { name: "Activity with Ada" })).toHaveAttribute(
    "href",
    `/activity?q=${ADA}`,
  );

  await page.getByRole("button", { name: "Add contact" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a contact" });
  await dialog.getByLabel("Name", { exact: true }).fill("Mallory");
  await dialog.getByLabel("Address", { exact: true }).fill(LIKE_ADA);
  await expect(
    dialog.getByText(
      "This address looks like an unapproved one in the address book, but it is not.",
    ),
  ).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save contact" }).click();
  await expect(rowOf(page, "Mallory")).toContainText("Looks like another address");

  await page.getByLabel("Search").fill("berl");
  await expect(rows(page)).toHaveCount(2);
  await expect(page).toHaveURL(/q=berl/);
  await page.getByLabel("Search").fill("");
  await page.getByRole("button", { name: "Contacts with the tag Payroll" }).click();
  await expect(rows(page)).toHaveCount(2);
  await page.reload();
  await expect(rows(page)).toHaveCount(2);
  await checkLooks(page, "/contacts");
  await page.goto("/contacts");

  await act(page, "Ada", "Edit");
  const edit = page.getByRole("dialog", { name: "Edit Ada" });
  await edit.getByLabel("Name", { exact: true }).fill("Ada Lovelace");
  await edit.getByRole("button", { name: "Save contact" }).click();
  await expect(rowOf(page, "Ada Lovelace")).toContainText("Payroll");

  await act(page, "Mallory", "Delete");
  await page.getByRole("button", { name: "Delete contact" }).click();
  await expect(rows(page)).toHaveCount(2);
});

test("an owner approves a contact by code, and settings lead to the contacts", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await page.goto("/settings");
  await page
    .getByRole("navigation", { name: "Sections" })
    .getByRole("link", { name: "Contacts" })
    .click();
  await add(page, { name: "Ada", address: ADA });
  await act(page, "Ada", "Approve");
  const dialog = page.getByRole("dialog", { name: "Approve Ada" });
  await dialog.getByRole("button", { name: "Approve", exact: true }).click();
  await expect(dialog.getByRole("region", { name: "Change to approve" })).toContainText(ADA);
  expect(await axeFaults(page)).toEqual([]);
  await approveChange(page, project);
  await expect(rowOf(page, "Ada")).toContainText("Approved");
});

test("a name that looks like an approved one is flagged where it is approved, and another name or chain makes a contact proposed again", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.addApproved({ name: "Payroll Ltd", address: ADA, chainIds: [31337] });
  await page.goto("/contacts");
  await add(page, { name: "Payro11 Ltd.", address: `0x1234${"0".repeat(32)}5678` });
  const like = rowOf(page, "Payro11");
  await expect(like).toContainText("Named like another");
  await expect(rowOf(page, "Payroll Ltd")).not.toContainText("Named like");
  await checkLooks(page, "contacts with a similar name");
  await page.goto("/contacts");
  await act(page, "Payro11 Ltd.", "Approve");
  const dialog = page.getByRole("dialog", { name: "Approve Payro11 Ltd." });
  await expect(dialog.getByText("Look at this contact again")).toBeVisible();
  await expect(dialog.getByText("Every chain")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Approve", exact: true }).click();
  const change = dialog.getByRole("region", { name: "Change to approve" });
  await expect(change).toContainText("looks like that of the approved contact");
  await page.keyboard.press("Escape");

  const payroll = rowOf(page, "Payroll Ltd");
  await act(page, "Payroll Ltd", "Edit");
  const edit = page.getByRole("dialog", { name: "Edit Payroll Ltd" });
  await edit.getByLabel("Tags").fill("May");
  await edit.getByRole("button", { name: "Save contact" }).click();
  await expect(payroll).toContainText("May");
  await expect(payroll).toContainText("Approved");
  await act(page, "Payroll Ltd", "Edit");
  await expect(
    edit.getByText("Another name or other chains make it proposed again"),
  ).toBeVisible();
  await edit.getByLabel("Local 2", { exact: true }).check();
  await edit.getByRole("button", { name: "Save contact" }).click();
  await expect(payroll).toContainText("Local 2");
  await expect(payroll).toContainText("Proposed");
});

test("on a phone the list of contacts keeps its place when it arrives late", async ({
  page,
}) => {
  await signIn(page.request);
  const { api } = await projectOf(page);
  for (const [index, name] of ["Ada", "Grace", "Barbara", "Edsger"].entries())
    await api.call(createContact, {
      body: { name, address: `0x${String(index + 1).repeat(40)}`, tags: ["Payroll"] },
    });
  await page.setViewportSize({ width: 390, height: 844 });
  await countShifts(page);
  let release = (): void => undefined;
  const held = new Promise<void>((done) => (release = done));
  await page.route("**/api/contacts", async (route) => {
    await held;
    await route.continue();
  });
  await page.goto("/contacts");
  const loading = page.getByRole("main").locator(".animate-pulse").first();
  await expect(loading).toBeVisible();
  const before = await loading.locator("xpath=..").boundingBox();
  release();
  await settle(page);
  const first = await page.getByRole("row", { name: /^Ada/ }).boundingBox();
  expect(first?.y).toBe(before?.y);
  expect(first?.height).toBe(before?.height);
  await expectStill(page, "contacts");
});
