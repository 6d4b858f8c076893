import { expect, type APIRequestContext, type Locator, type Page } from "@playwright/test";

/** Signs in with the app's own burner wallet, as a person without an extension does. */
export const signInWithBurner = async (page: Page): Promise<void> => {
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Use the burner wallet" }).click();
  await expect(page.getByRole("region", { name: "Message to sign" })).toContainText(
    "wants you to sign in with your Ethereum account",
  );
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
};

/** The newest code mailed to the address, other than those in `seen`. */
export const mailedCode = async (request: APIRequestContext, to: string, seen: string[] = []): Promise<string> => {
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

/** Opens the link of the invitation that was mailed to the address, and joins the project. The person is signed in on the page. */
export const acceptInvitation = async (page: Page, email: string): Promise<void> => {
  let link = "";
  await expect(async () => {
    const response = await page.request.get("/api/dev/inbox", { params: { to: email, limit: 10 } });
    const { data } = (await response.json()) as { data: { text: string }[] };
    link = data.map(({ text }) => /\/join#[0-9A-Za-z]+/.exec(text)?.[0] ?? "").find((found) => found !== "") ?? "";
    expect(link).not.toBe("");
  }).toPass({ timeout: 30_000 });
  await page.goto(link);
  await page.getByRole("button", { name: "Join project" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
};

export const typeCode = async (page: Page, code: string): Promise<void> => {
  await page.getByLabel("One-time code").or(page.getByLabel("Code of six digits")).first().click();
  await page.keyboard.type(code);
};

/** Opens a combobox or select, types what is looked for where it can be searched, and chooses the option. */
export const choose = async (page: Page, field: Locator, option: string | RegExp): Promise<void> => {
  await field.click();
  await page.getByRole("option", { name: option }).first().click();
};

/** Gives the person a verified address, to which codes then go. */
export const verifyEmail = async (page: Page, email: string, seen: string[]): Promise<void> => {
  await page.goto("/settings");
  await page.getByLabel("E-mail address").fill(email);
  await page
    .getByRole("button", { name: /send|code/i })
    .first()
    .click();
  await typeCode(page, await mailedCode(page.request, email, seen));
  await expect(page.getByText("Verified", { exact: true })).toBeVisible();
};

interface Source {
  /** Part of the wallet's name; the one that is chosen already where it is left out. */
  wallet?: string;
  chain: string;
  token: string;
  amount: string;
}

/** Fills a row of the swap form; the first is 1. */
export const fillSource = async (page: Page, index: number, source: Source): Promise<void> => {
  const field = (what: string) => page.getByLabel(`Source ${String(index)} ${what}`, { exact: true });
  if (source.wallet !== undefined) await choose(page, field("wallet"), new RegExp(`^${source.wallet}`));
  await choose(page, field("chain"), source.chain);
  await choose(page, field("token"), new RegExp(`^${source.token}`));
  await field("amount").fill(source.amount);
};
