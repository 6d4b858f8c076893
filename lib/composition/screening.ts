import { createHttpScreening } from "@/lib/adapters/screening/http-provider";
import { createOracleScreening } from "@/lib/adapters/screening/oracle";
import { createListScreening } from "@/lib/adapters/screening/sanctions-list";
import { sqlOn } from "@/lib/db/sql";
import { createLoadedLists } from "@/lib/modules/screening/loaded-lists";
import { createScreeningService } from "@/lib/modules/screening/service";
import type { Platform } from "./platform";

/** Screening by the imported lists, the chains' oracles, and a provider where one is configured. */
export const buildScreening = ({ config, database, registry, clock, overrides }: Platform) => {
  const { provider } = config.screening;
  return createScreeningService({
    sources: overrides.screening ?? [
      createListScreening({ lists: createLoadedLists(sqlOn(database.pool)), clock }),
      createOracleScreening({ registry, clock }),
      ...(provider === null ? [] : [createHttpScreening({ ...provider, clock })]),
    ],
    clock,
  });
};
