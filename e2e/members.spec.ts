import { expect, openPage, test, type APIRequestContext, type Page } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { mailedCode, signAddress, typeCode, useBurner } from "./support/person";
import { projectOf, type TestProject } from "./support/project";
import { signIn } from "./support/sign-in";

const GUEST = `guest-${crypto.randomUUID()}@example.test`;

/** Returns the link of the invitation that was mailed to the address. */
const mailedLink = async (request: APIRequestContext, to: string): Promise<string> => {
  let link = "";
  await expect(async () => {
    const { data } = (await (
      await request.get("/api/dev/inbox", { params: { to, limit: 10 } })
    ).json()) as {
      data: { text: string }[];
    };
    link =
      data
        .map(({ text }) => /\/join#[0-9A-Za-z]+/.exec(text)?.[0] ?? "")
        .find((found) => found !== "") ?? "";
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
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  // After a reload the dialog continues where the mailed code is entered.
  await page.reload();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(GUEST);
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);
  await expect(
    page.getByRole("table", { name: "Invitations" }).getByRole("row", { name: GUEST }),
  ).toContainText("Waiting");
  await settle(page);
  await checkLooks(page, "members with an invitation");
};

/**
 * Raises the guest's role. A reload before the approval opens the dialog again, where the mailed
 * code is entered.
 */
const raiseToAdmin = async (page: Page, owner: TestProject): Promise<void> => {
  await page.goto("/members");
  await page.getByRole("button", { name: `Change the role of ${GUEST}` }).click();
  const dialog = page.getByRole("dialog", { name: `Role of ${GUEST}` });
  await dialog.getByRole("radio", { name: /^Admin/ }).click();
  await dialog.getByRole("button", { name: "Change role" }).click();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await page.reload();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(dialog).toHaveCount(0);
  const row = page.getByRole("table", { name: "Members" }).getByRole("row", { name: GUEST });
  await expect(row).toContainText("Admin");
  // An approval that was used is not requested again.
  await page.reload();
  await expect(row).toContainText("Admin");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("button", { name: `Change the role of ${GUEST}` }).click();
  await dialog.getByRole("radio", { name: /^Viewer/ }).click();
  await expect(dialog.getByText("What this person made stops working")).toBeVisible();
  await checkLooks(page, "a role that ends keys");
  await dialog.getByRole("button", { name: "Cancel" }).click();
};

/**
 * Opens the invitation without a session: the person signs in first, and then verifies the e-mail
 * address on this page.
 */
const join = async (page: Page, link: string): Promise<void> => {
  await page.goto(link);
  await expect(page).toHaveURL(/\/sign-in\?from=%2Faccept-invitation/);
  await useBurner(page);
  await expect(page.getByRole("region", { name: "Join My project" })).toContainText(GUEST);
  await expect(page.getByRole("button", { name: "Join project" })).toBeDisabled();
  await expect(page.getByLabel("E-mail address")).toHaveValue(GUEST);
  // The page as the server renders it does not claim that there is no invitation.
  const html = await (await page.request.get("/accept-invitation")).text();
  expect(html).toContain("Invitation");
  expect(html).not.toContain("No invitation was opened");
  await signAddress(page, GUEST);
  await expect(page.getByText("A code was sent to")).toBeVisible();
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

  const guest = await openPage(browser);
  await join(guest, await mailedLink(page.request, GUEST));
  await guest.goto("/members");
  const members = guest.getByRole("table", { name: "Members" });
  await expect(members.getByRole("row")).toHaveCount(3);
  await expect(guest.getByRole("button", { name: "Invite", exact: true })).toHaveCount(0);
  await expect(guest.getByRole("button", { name: /^Remove/ })).toHaveCount(0);
  await expect(members.getByRole("row", { name: GUEST })).toContainText("Viewer");

  await raiseToAdmin(page, owner);

  // The same person is the owner of their own project.
  await guest.getByRole("button", { name: /^Project / }).click();
  await expect(guest.getByRole("menu")).toContainText(
    /^Projects.*admin.*Made when you signed in.*owner.*Members/,
  );
  await guest.getByRole("menuitem", { name: /owner/ }).click();
  await expect(guest.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await guest.goto("/members");
  await expect(guest.getByRole("button", { name: "Invite", exact: true })).toBeVisible();
  await guest.getByRole("button", { name: /^Project / }).click();
  await guest.getByRole("menuitem", { name: /admin/ }).click();
  await expect(guest.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();

  await page.reload();
  await page.getByRole("button", { name: `Remove ${GUEST}` }).click();
  await expect(page.getByText("Nothing that this person made stops.")).toBeVisible();
  await checkLooks(page, "a removal");
  await page.getByRole("button", { name: "Remove member" }).click();
  await expect(page.getByRole("region", { name: "Change to approve" })).toContainText(
    "Remove a member",
  );
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await owner.code());
  await expect(page.getByRole("table", { name: "Members" }).getByRole("row")).toHaveCount(2);
  // The guest's browser returns to the person's own project.
  await expect(async () => {
    await guest.goto("/members");
    await expect(guest.getByRole("button", { name: "Invite", exact: true })).toBeVisible({
      timeout: 5000,
    });
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
