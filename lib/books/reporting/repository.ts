import type { Queryable } from "@/lib/platform/db/client";
import { isReportingCurrency, type ReportingCurrency } from "@/lib/core/currencies";

export const readCurrency = async (
  db: Queryable,
  projectId: string,
): Promise<ReportingCurrency> => {
  const { reportingCurrency } = await db.project.findUniqueOrThrow({
    where: { id: projectId },
    select: { reportingCurrency: true },
  });
  return isReportingCurrency(reportingCurrency) ? reportingCurrency : "USD";
};

/** Returns false when the stored currency is no longer `from`. */
export const replaceCurrency = async (
  db: Queryable,
  {
    projectId,
    from,
    to,
  }: { projectId: string; from: ReportingCurrency; to: ReportingCurrency },
): Promise<boolean> => {
  const { count } = await db.project.updateMany({
    where: { id: projectId, reportingCurrency: from },
    data: { reportingCurrency: to },
  });
  return count === 1;
};
