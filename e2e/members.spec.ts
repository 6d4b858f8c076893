import { expect, test, type APIRequestContext, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { mailedCode, typeCode } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const GUEST = `guest-${crypto.randomUUID()}@example.test`;

/** The link of the invitation that was mailed to the address. */
const mailedLink = async (request: APIRequestContext, to: string): Promise<string> => {
  let link = "";
  await expect(async () => {
    const { data } = (await (await request.get("/api/dev/inbox", { params: { to, limit: 10 } })).json()) as {
      data: { text: string }[];
    };
    link = data.map(({ text }) => /\/join#[0-9A-Za-z]+/.exec(text)?.[0] ?? "").find((found) => found !== "") ?? "";
    expect(link).not.toBe("");
  }).toPass({ timeout: 30_000 });
  return link;
};

const invite = async (page: Page, owner: TestProject): Promise<void> => {
  await page.goto("/members");
  await page.getByRole("button", { name: "Invite", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Invite a person" });
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(dialog.getByText("Enter an address such as name@example.com.")).toBeVisible();
  await dialog.getByLabel("E-mail address").fill(GUEST);
  await dialog.getByRole("radio", { name: /^Viewer/ }).click();
  await dialog.getByRole("button", { name: "Send invitation" }).click();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(GUEST);
  await dialog.getByRole("button", { name: "Send code" }).click();
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  // A reload in the middle goes on at the code that was mailed.
  await page.reload();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(GUEST);
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("table", { name: "Invitations" }).getByRole("row", { name: GUEST })).toContainText(
    "Waiting",
  );
  await settle(page);
  await checkLooks(page, "members with an invitation");
};

/** Raises the guest's role; a reload in the middle opens the dialog again, at the code that was mailed. */
const raiseToAdmin = async (page: Page, owner: TestProject): Promise<void> => {
  await page.goto("/members");
  await page.getByRole("button", { name: `Change the role of ${GUEST}` }).click();
  const dialog = page.getByRole("dialog", { name: `Role of ${GUEST}` });
  await dialog.getByRole("radio", { name: /^Admin/ }).click();
  await dialog.getByRole("button", { name: "Change role" }).click();
  await dialog.getByRole("button", { name: "Send code" }).click();
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  await page.reload();
  await expect(dialog.getByLabel("One-time code")).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);
  const row = page.getByRole("table", { name: "Members" }).getByRole("row", { name: GUEST });
  await expect(row).toContainText("Admin");
  // An approval that was given is asked for no more.
  await page.reload();
  await expect(row).toContainText("Admin");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("button", { name: `Change the role of ${GUEST}` }).click();
  await dialog.getByRole("radio", { name: /^Viewer/ }).click();
  await expect(dialog.getByText("API keys that this person made stop working")).toBeVisible();
  await checkLooks(page, "a role that ends keys");
  await dialog.getByRole("button", { name: "Cancel" }).click();
};

/** Opens the link while signed out of nothing: the person signs in on another page first, and verifies the address here. */
const join = async (page: Page, link: string): Promise<void> => {
  await page.goto(link);
  await expect(page).toHaveURL(/\/sign-in\?from=%2Faccept-invitation/);
  await signIn(page.request);
  await page.goto("/accept-invitation");
  await expect(page.getByRole("region", { name: "Join My project" })).toContainText(GUEST);
  await expect(page.getByRole("button", { name: "Join project" })).toBeDisabled();
  await page.getByLabel("E-mail address").fill(GUEST);
  await page.getByRole("button", { name: "Send a code" }).click();
  await settle(page);
  await checkLooks(page, "invitation");
  await typeCode(page, await mailedCode(page.request, GUEST));
  await page.getByRole("button", { name: "Join project" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
};

test("a person is invited, joins as a viewer, becomes an admin, switches projects, and is removed", async ({
  page,
  browser,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const owner = await projectOf(page);
  await invite(page, owner);

  const guest = await (await browser.newContext()).newPage();
  await join(guest, await mailedLink(page.request, GUEST));
  await guest.goto("/members");
  const members = guest.getByRole("table", { name: "Members" });
  await expect(members.getByRole("row")).toHaveCount(3);
  await expect(guest.getByRole("button", { name: "Invite", exact: true })).toHaveCount(0);
  await expect(guest.getByRole("button", { name: /^Remove/ })).toHaveCount(0);
  await expect(members.getByRole("row", { name: GUEST })).toContainText("Viewer");

  await raiseToAdmin(page, owner);

  // In the own project the same person is the owner.
  await guest.getByRole("button", { name: /^Project / }).click();
  await guest.getByRole("menuitem", { name: /owner/ }).click();
  await expect(guest.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await guest.goto("/members");
  await expect(guest.getByRole("button", { name: "Invite", exact: true })).toBeVisible();
  await guest.getByRole("button", { name: /^Project / }).click();
  await guest.getByRole("menuitem", { name: /admin/ }).click();
  await expect(guest.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();

  await page.reload();
  await page.getByRole("button", { name: `Remove ${GUEST}` }).click();
  await page.getByRole("button", { name: "Remove member" }).click();
  await expect(page.getByRole("table", { name: "Members" }).getByRole("row")).toHaveCount(2);
  // The guest's browser falls back to the person's own project.
  await expect(async () => {
    await guest.goto("/members");
    await expect(guest.getByRole("button", { name: "Invite", exact: true })).toBeVisible({ timeout: 5000 });
  }).toPass({ timeout: 30_000 });
});

test("a new project is made in the shell and has a treasury of its own", async ({ page }) => {
  await signIn(page.request);
  await page.goto("/");
  await page.getByRole("button", { name: "Project My project" }).click();
  await page.getByRole("menuitem", { name: "New project" }).click();
  const dialog = page.getByRole("dialog", { name: "New project" });
  await dialog.getByLabel("Name").fill("Corner shop");
  await dialog.getByRole("button", { name: "Create project" }).click();
  await expect(page.getByRole("button", { name: "Project Corner shop" })).toBeVisible();
  await page.goto("/wallets");
  await expect(page.getByRole("heading", { name: "Wallets", level: 1 })).toBeVisible();
  await expect(page.getByText("Treasury").first()).toBeVisible();
});
