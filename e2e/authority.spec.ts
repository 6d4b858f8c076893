import { expect, test, type Locator, type Page } from "./support/test";
import { axeFaults, checkLooks } from "./support/axe";
import { ageEmailCodes } from "./support/email-codes";
import { mailedCode, signInWithBurner, typeCode, verifyEmail } from "./support/person";

const EMAIL = `joan-${String(Date.now())}@example.test`;
const NEW_EMAIL = `joan-new-${String(Date.now())}@example.test`;

const changeToApprove = (page: Page): Locator =>
  page.getByRole("region", { name: "Change to approve" });

/** Activates an element by keyboard only. */
const press = async (page: Page, target: Locator, key = "Enter"): Promise<void> => {
  await target.focus();
  await page.keyboard.press(key);
};

const makeExemptKeyByCode = async (page: Page, seen: string[]): Promise<void> => {
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "New API key" }).first().click();
  const dialog = page.getByRole("dialog", { name: "New API key" });
  await dialog.getByLabel("Name").fill("Shop backend");
  await dialog.getByRole("radio", { name: /^Payments/ }).click();
  await dialog.getByRole("radio", { name: /^No code, up to a limit a day/ }).click();
  await expect(dialog.getByText(/At most \$1,000/)).toBeVisible();
  await dialog.getByLabel("Limit a day (US dollars)").fill("5000");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(dialog.getByText(/At most 1,000: the project's daily cap/)).toBeVisible();
  await dialog.getByLabel("Limit a day (US dollars)").fill("250");
  await dialog.getByRole("button", { name: "Create key" }).click();

  const change = changeToApprove(page);
  await expect(change).toContainText('Create the API key "Shop backend"');
  await expect(change).toContainText(
    "Moves money without a code: up to 250 US dollars per UTC day",
  );
  await expect(change).toBeVisible();
  await checkLooks(page, "approval of a key");
  // The typed values survive a return to the form.
  await dialog.getByRole("button", { name: "Back" }).click();
  await expect(dialog.getByLabel("Name")).toHaveValue("Shop backend");
  await dialog.getByRole("button", { name: "Create key" }).click();
  await expect(dialog.getByText(/^Code sent to/)).toBeVisible();
  const code = await mailedCode(page.request, EMAIL, seen);
  await typeCode(page, code === "000000" ? "000001" : "000000");
  await expect(dialog.getByText("That is not the code")).toBeVisible();
  await typeCode(page, code);
  const ready = page.getByRole("dialog", { name: /^The key “Shop backend” is ready/ });
  await expect(ready.getByTestId("api-key-secret")).toContainText("cw_test_");
  await ready.getByRole("button", { name: "Close" }).first().click();
  await page.getByRole("button", { name: "Close for good" }).click();
  const row = page.getByRole("row", { name: /Shop backend/ });
  await expect(row).toContainText("$250.00");
  // A new secret for the key needs an approval too. Without one nothing changes.
  await row.getByRole("button", { name: "Make a new secret for Shop backend" }).click();
  const rotation = page.getByRole("dialog", { name: "New secret for “Shop backend”" });
  await rotation.getByRole("button", { name: "Make new secret" }).click();
  await expect(changeToApprove(page)).toContainText("The present secret ends: 24 hours later");
  await page.keyboard.press("Escape");
};

const raiseCapBySignature = async (page: Page): Promise<void> => {
  await page.goto("/settings/policies");
  const card = page.getByRole("region", { name: /^Daily cap of API keys/ });
  await expect(card).toContainText("$1,000.00");
  await card.getByRole("button", { name: "Change the daily cap" }).click();
  await card.getByLabel("Daily cap (US dollars)").fill("2500");
  await page.keyboard.press("Enter");
  await expect(changeToApprove(page)).toContainText(
    "Daily cap of the project: 2500 US dollars (now 1000)",
  );
  await card.getByRole("button", { name: "Sign with wallet" }).click();
  await checkLooks(page, "approval of a cap");
  const sign = card.getByRole("button", { name: "Sign and approve" });
  await press(page, sign);
  const wallet = page.getByRole("dialog", { name: "Sign a message" });
  await expect(wallet).toContainText("Daily cap of the project: 2500 US dollars (now 1000)");
  await wallet.getByRole("button", { name: "Reject" }).click();
  await expect(
    card.getByText("You rejected it in the wallet. Nothing was changed."),
  ).toBeVisible();
  await sign.click();
  await wallet.getByRole("button", { name: "Confirm" }).click();
  await expect(card).toContainText("$2,500.00");
};

const editKey = async (page: Page): Promise<void> => {
  await page.goto("/api-keys");
  await page.getByRole("button", { name: "Edit Shop backend" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit “Shop backend”" });
  await dialog.getByLabel("Limit a day (US dollars)").fill("100");
  expect(await axeFaults(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(dialog).toHaveCount(0);
  await expect(page.getByRole("row", { name: /Shop backend/ })).toContainText("$100.00");
  await page.getByRole("button", { name: "Edit Shop backend" }).click();
  await dialog.getByLabel("Limit a day (US dollars)").fill("2000");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect(changeToApprove(page)).toContainText(
    "up to 2000 US dollars per UTC day (now up to 100",
  );
  await dialog.getByRole("button", { name: "Sign with wallet" }).click();
  await dialog.getByRole("button", { name: "Sign and approve" }).click();
  await page
    .getByRole("dialog", { name: "Sign a message" })
    .getByRole("button", { name: "Confirm" })
    .click();
  await expect(page.getByRole("row", { name: /Shop backend/ })).toContainText("$2,000.00");
};

const replaceEmail = async (page: Page, seen: string[]): Promise<void> => {
  await page.goto("/settings");
  const card = page.getByRole("region", { name: /^E-mail/ });
  await card.getByRole("button", { name: "Change" }).click();
  await card.getByLabel("E-mail address").fill(NEW_EMAIL);
  // The service sends one verification code per minute; the test makes the last one older.
  await ageEmailCodes(EMAIL);
  await card.getByRole("button", { name: "Send a code" }).click();
  await expect(changeToApprove(page)).toContainText(`New address: "${NEW_EMAIL}"`);
  await expect(card.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await mailedCode(page.request, EMAIL, seen));
  await expect(card.getByLabel("Code of six digits")).toBeVisible();
  expect(await axeFaults(page)).toEqual([]);
  await typeCode(page, await mailedCode(page.request, NEW_EMAIL));
  await expect(card.getByText("Verified", { exact: true })).toBeVisible();
  await expect(card.getByText(NEW_EMAIL)).toBeVisible();
};

test("authority is widened with an approval alone: an exempt key by code, a higher cap by signature, another e-mail address", async ({
  page,
}) => {
  test.setTimeout(240_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  const seen: string[] = [];
  await signInWithBurner(page);
  await verifyEmail(page, EMAIL, seen);
  await makeExemptKeyByCode(page, seen);
  await raiseCapBySignature(page);
  await editKey(page);
  await replaceEmail(page, seen);
  // The mail about the key went to the address that the owner had at that time.
  await expect(async () => {
    const { data } = (await (
      await page.request.get("/api/dev/inbox", { params: { to: EMAIL, limit: 50 } })
    ).json()) as {
      data: { subject: string }[];
    };
    expect(data.filter(({ subject }) => subject.startsWith("New API key"))).toHaveLength(1);
  }).toPass({ timeout: 30_000 });
  expect(problems).toEqual([]);
});
