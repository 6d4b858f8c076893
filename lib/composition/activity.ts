import { permissionGuard } from "@/lib/core/permissions";
import { tracedService } from "@/lib/core/tracing";
import { sqlOn } from "@/lib/platform/db/sql";
import { createActivityService, type ActivityDeps } from "@/lib/money/activity/service";
import { createAnnotationReads } from "@/lib/money/annotations/service";
import * as rights from "./caller-rights";
import type { Money } from "./money";
import type { Platform } from "./platform";

export const buildActivity = (
  { database, clock }: Pick<Platform, "database" | "clock">,
  { operations, ledger, assets }: Pick<Money, "operations" | "ledger" | "assets">,
  parts: Pick<ActivityDeps, "deposits" | "payouts" | "privacy">,
) => {
  const annotations = createAnnotationReads({ database });
  const service = createActivityService({
    ...{ operations, ledger, assets, annotations, clock, reader: sqlOn(database.pool) },
    ...parts,
  });
  return tracedService("activity", permissionGuard(service, rights.ACTIVITY));
};
