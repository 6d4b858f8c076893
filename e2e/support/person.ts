import { expect, type APIRequestContext, type Locator, type Page } from "@playwright/test";

/** Signs in with the app's own burner wallet, as a person without an extension does. */
export const signInWithBurner = async (page: Page): Promise<void> => {
  await page.goto("/sign-in");
  await useBurner(page);
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
};

/** Signs in with the burner wallet on the sign-in page that is already open. */
export const useBurner = async (page: Page): Promise<void> => {
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await expect(page.getByRole("region", { name: "Message to sign" })).toContainText(
    "wants you to sign in with your Ethereum account",
  );
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
};

/**
 * Waits for the newest mail with a code whose id is not in `seen`, adds the id to `seen`, and
 * returns the code.
 */
export const mailedCode = async (
  request: APIRequestContext,
  to: string,
  seen: string[] = [],
): Promise<string> => {
  let code: string | undefined;
  await expect(async () => {
    const response = await request.get("/api/dev/inbox", { params: { to, limit: 10 } });
    const { data } = (await response.json()) as { data: { id: string; code?: string }[] };
    const fresh = data.find((mail) => mail.code !== undefined && !seen.includes(mail.id));
    expect(fresh).toBeDefined();
    code = fresh?.code;
    if (fresh) seen.push(fresh.id);
  }).toPass({ timeout: 30_000 });
  return code ?? "";
};

/**
 * Opens the link of the invitation that was mailed to the address, and joins the project. The
 * person is signed in on the page.
 */
export const acceptInvitation = async (page: Page, email: string): Promise<void> => {
  let link = "";
  await expect(async () => {
    const response = await page.request.get("/api/dev/inbox", {
      params: { to: email, limit: 10 },
    });
    const { data } = (await response.json()) as { data: { text: string }[] };
    link =
      data
        .map(({ text }) => /\/join#[0-9A-Za-z]+/.exec(text)?.[0] ?? "")
        .find((found) => found !== "") ?? "";
    expect(link).not.toBe("");
  }).toPass({ timeout: 30_000 });
  await page.goto(link);
  await page.getByRole("button", { name: "Join project" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
};

export const typeCode = async (page: Page, code: string): Promise<void> => {
  await page
    .getByLabel("One-time code")
    .or(page.getByLabel("Code of six digits"))
    .first()
    .click();
  await page.keyboard.type(code);
};

/**
 * Opens a combobox or select, types the option's text when the list has a search field, and chooses
 * the option.
 */
export const choose = async (
  page: Page,
  field: Locator,
  option: string | RegExp,
): Promise<void> => {
  await field.click();
  await page.getByRole("option", { name: option }).first().click();
};

/**
 * Enters the e-mail address of a person who has none yet, and signs the service's message about it
 * with the burner wallet. The service then mails a code.
 */
export const signAddress = async (page: Page, email: string): Promise<void> => {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByRole("button", { name: "Sign and send a code" }).click();
  const wallet = page.getByRole("dialog", { name: "Sign a message" });
  await expect(wallet).toContainText(email);
  await wallet.getByRole("button", { name: "Confirm" }).click();
};

/** Gives the person a verified address, so that the service can mail codes to it. */
export const verifyEmail = async (page: Page, email: string, seen: string[]): Promise<void> => {
  await page.goto("/settings");
  await signAddress(page, email);
  await typeCode(page, await mailedCode(page.request, email, seen));
  await expect(page.getByText("Verified", { exact: true })).toBeVisible();
};

interface Source {
  /**
   * Beginning of the wallet's name and address. By default the wallet with the highest balance.
   */
  wallet?: string;
  chain: string;
  token: string;
  amount: string;
}

/**
 * Fills one source row of the swap form.
 * @param index number of the row, from 1
 */
export const fillSource = async (page: Page, index: number, source: Source): Promise<void> => {
  const { wallet = "", chain, token, amount } = source;
  const field = (what: string) =>
    page.getByLabel(`Source ${String(index)} ${what}`, { exact: true });
  await choose(page, field("token"), new RegExp(`^${token} on ${chain} ${wallet}`));
  await expect(field("token")).toHaveText(`${token} on ${chain}`);
  await field("amount").fill(amount);
};

/** Chooses the token that the swap form's recipient gets, and its chain. */
export const chooseDestination = async (
  page: Page,
  token: string,
  chain: string,
): Promise<void> => {
  const field = page.getByLabel("Destination token", { exact: true });
  await choose(page, field, new RegExp(`^${token} on ${chain} `));
  await expect(field).toHaveText(`${token} on ${chain}`);
};

/**
 * Returns the recipient field of the swap form. When the form shows the recipient as a line of
 * text, opens the field first.
 */
export const openRecipient = async (page: Page): Promise<Locator> => {
  const line = page.getByRole("button", { name: /^To .*0x/ });
  const field = page.getByLabel("Recipient", { exact: true });
  await expect(line.or(field).first()).toBeVisible();
  if (!(await field.isVisible())) await line.click();
  await expect(field).toBeVisible();
  return field;
};
