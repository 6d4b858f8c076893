import { expect, test, type Page } from "./support/test";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { stepAt, totpCode } from "@/lib/trust/proofs/totp";
import { fromBase32 } from "@/lib/dev/testing/totp-app";
import { swapAndTransfer } from "@/lib/contracts/transfers";
import { axeFaults, checkLooks, settle } from "./support/axe";
import { codesMailedTo } from "./support/email-codes";
import { choose, typeCode } from "./support/person";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

const CHAIN = 31337;
const RECIPIENT = privateKeyToAccount(generatePrivateKey()).address;

/** Adds a virtual passkey authenticator by Chromium's developer tools. */
const addAuthenticator = async (page: Page): Promise<void> => {
  const client = await page.context().newCDPSession(page);
  await client.send("WebAuthn.enable");
  await client.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
};

test("a person adds a passkey, signs in by it, and sets up an authenticator app that it approves", async ({
  page,
}) => {
  await signIn(page.request);
  const project = await projectOf(page);
  await addAuthenticator(page);
  await page.goto("/settings/security");

  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByLabel("Name of a new passkey").fill("Laptop");
  await passkeys.getByRole("button", { name: "Add a passkey" }).click();
  await expect(passkeys.getByRole("region", { name: "Change to approve" })).toContainText(
    '- Name: "Laptop"',
  );
  await expect(passkeys.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await expect(passkeys.getByRole("listitem").filter({ hasText: "Laptop" })).toContainText(
    "never used",
  );

  await page.context().clearCookies();
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();

  await page.goto("/settings/security");
  await expect(passkeys.getByRole("listitem").filter({ hasText: "Laptop" })).toContainText(
    "last used",
  );
  const app = page.getByRole("region", { name: "Authenticator app" });
  await app.getByRole("button", { name: "Set up an authenticator app" }).click();
  await app.getByRole("button", { name: "Approve with passkey" }).click();
  await expect(
    app.getByRole("img", { name: "QR code for the authenticator app" }),
  ).toBeVisible();
  const secret = fromBase32(await app.getByTestId("totp-secret").innerText());
  await app.getByLabel("Code of the app").click();
  await page.keyboard.type(totpCode(secret, stepAt(new Date())));
  await expect(
    app.getByRole("list", { name: "Recovery codes" }).getByRole("listitem"),
  ).toHaveCount(10);
  await app.getByRole("button", { name: "I have kept them" }).click();
  await expect(app.getByText("Recovery codes left: 10 of 10.")).toBeVisible();
  await settle(page);
  expect(await axeFaults(page)).toEqual([]);
});

test("a transfer is approved by the authenticator app, and a waiting payment by a passkey", async ({
  page,
}) => {
  test.setTimeout(180_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(CHAIN, "USDC", "100");
  await addAuthenticator(page);
  await page.goto("/settings/security");
  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByLabel("Name of a new passkey").fill("Laptop");
  await passkeys.getByRole("button", { name: "Add a passkey" }).click();
  await expect(passkeys.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await expect(passkeys.getByRole("listitem")).toHaveCount(1);
  const app = page.getByRole("region", { name: "Authenticator app" });
  await app.getByRole("button", { name: "Set up an authenticator app" }).click();
  await app.getByRole("button", { name: "Approve with passkey" }).click();
  const secret = fromBase32(await app.getByTestId("totp-secret").innerText());
  const step = stepAt(new Date());
  await app.getByLabel("Code of the app").click();
  await page.keyboard.type(totpCode(secret, step));
  await app.getByRole("button", { name: "I have kept them" }).click();

  const mailed = await codesMailedTo(page, project.email);
  await page.goto("/transfer");
  await choose(page, page.getByLabel("Token", { exact: true }), /^USDC/);
  await page.getByLabel("Amount", { exact: true }).fill("12.5");
  await page.getByLabel("Recipient", { exact: true }).fill(RECIPIENT);
  await page.getByRole("button", { name: "Review", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Review the transfer" });
  await expect(
    dialog.getByRole("button", { name: "Pay 12.50 USDC with passkey" }),
  ).toBeVisible();
  await expect(dialog.getByRole("button", { name: "Use a code instead" })).toBeVisible();
  await checkLooks(page, "approval of a transfer with second factors");
  await dialog.getByRole("button", { name: "Use authenticator" }).click();
  await dialog.getByLabel("Code of the authenticator app").click();
  // A code can be used only once, and the test has used one before. The service accepts the code of
  // the next half minute already.
  await page.keyboard.type(totpCode(secret, Math.max(step + 1, stepAt(new Date()))));
  await page.waitForURL(/\/activity\/op_/);
  await expect(page.getByText("Completed", { exact: true }).first()).toBeVisible({
    timeout: 60_000,
  });

  const { operationId } = await project.api.call(swapAndTransfer, {
    body: {
      ...{ fromWalletId: project.treasury.id, fromChainId: CHAIN, toChainId: CHAIN },
      ...{ fromToken: "USDC", toToken: "USDC", amount: "7", recipient: RECIPIENT },
    },
  });
  await page.goto(`/activity/${operationId}`);
  await page.getByRole("button", { name: "Review and approve" }).click();
  const approval = page.getByRole("dialog", { name: "Review the operation" });
  await checkLooks(page, "approval of an operation by a passkey");
  await approval.getByRole("button", { name: "Send 7.00 USDC with passkey" }).click();
  await expect(approval).toHaveCount(0);
  // No code is mailed to a person who has a passkey, unless they ask for one.
  expect(await codesMailedTo(page, project.email)).toBe(mailed);
  expect(await project.untilFinal(operationId)).toBe("completed");
});

test("a person sees their sessions, and ends another one", async ({ page, browser }) => {
  await signIn(page.request);
  await page.goto("/settings/security");
  const sessions = page.getByRole("region", { name: "Sessions" });
  await expect(sessions.getByRole("listitem")).toHaveCount(1);
  await expect(sessions.getByRole("listitem")).toContainText("This session");
  await addAuthenticator(page);
  const project = await projectOf(page);
  await page.reload();

  const passkeys = page.getByRole("region", { name: "Passkeys" });
  await passkeys.getByLabel("Name of a new passkey").fill("Key");
  await passkeys.getByRole("button", { name: "Add a passkey" }).click();
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
  await expect(passkeys.getByRole("listitem")).toHaveCount(1);

  // The earlier session continues in a separate browser context.
  const other = await browser.newContext({ storageState: await page.context().storageState() });
  const elsewhere = await other.newPage();
  await page.context().clearCookies();
  await page.goto("/sign-in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await expect(page.getByRole("heading", { name: "Overview", level: 1 })).toBeVisible();
  await page.goto("/settings/security");
  await expect(sessions.getByRole("listitem")).toHaveCount(2);
  await sessions.getByRole("button", { name: /^End the session of/ }).click();
  await expect(sessions.getByRole("listitem")).toHaveCount(1);
  await elsewhere.goto("/settings/security");
  await expect(elsewhere).toHaveURL(/\/sign-in/);
  await other.close();
});
