import { expect, type Page } from "@playwright/test";
import { typeCode } from "./person";
import type { TestProject } from "./project";

/** Types the code that was mailed when the approval opened. The last digit submits it. */
export const approveChange = async (page: Page, project: TestProject): Promise<void> => {
  await expect(page.getByText(/^Code sent to/)).toBeVisible();
  await typeCode(page, await project.code());
};
