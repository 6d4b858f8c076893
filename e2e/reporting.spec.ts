import { expect, test } from "./support/test";
import { checkLooks, settle } from "./support/axe";
import { projectOf } from "./support/project";
import { signIn } from "./support/sign-in";

test("the worth of things is shown in the project's currency, with its rate and time, and limits stay in dollars", async ({
  page,
}) => {
  test.setTimeout(120_000);
  await signIn(page.request);
  const project = await projectOf(page);
  await project.give(31337, "USDC", "108");
  await page.goto("/");
  const total = page.getByRole("link", { name: "Total, to the balances by token" });
  await expect(total).toHaveText("$108.00");
  await expect(page.getByText(/^In EUR/)).toHaveCount(0);

  await page.goto("/settings/reporting");
  const card = page.getByRole("region", { name: "Reporting currency" });
  await expect(card.getByRole("radio", { name: /^US dollar/ })).toBeChecked();
  await expect(card.getByRole("radio", { name: /^Euro \(EUR\)/ })).toContainText("1.08 USD");
  await settle(page);
  await checkLooks(page, "reporting currency");
  await card.getByRole("radio", { name: /^Euro/ }).click();
  await expect(card.getByRole("radio", { name: /^Euro/ })).toBeChecked();

  await page.goto("/");
  await expect(total).toHaveText("€100.00");
  await expect(page.getByText(/^In EUR, at 1.08 USD for 1 EUR, a rate of/)).toBeVisible();
  await page.goto("/balances");
  await expect(page.getByTestId("total-usd")).toHaveText("€100.00");
  await page.goto("/activity");
  await expect(page.getByRole("row", { name: /Deposit/ })).toContainText("€100.00");

  // Limits are rules in US dollars.
  await page.goto("/settings/policies");
  await expect(page.getByRole("region", { name: "Daily cap of API keys" })).toContainText(
    "$1,000.00 a day",
  );
});
