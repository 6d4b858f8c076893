import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createRoutingService } from "@/lib/money/routing/service";
import type { Routing, RoutingProvider } from "@/lib/money/ports/routing";
import type { Platform } from "./platform";
import { createHttpScreening } from "@/lib/adapters/screening/http-provider";
import { createOracleScreening } from "@/lib/adapters/screening/oracle";
import { createListScreening } from "@/lib/adapters/screening/sanctions-list";
import { sqlOn } from "@/lib/platform/db/sql";
import { createLoadedLists } from "@/lib/trust/screening/loaded-lists";
import { createScreeningService } from "@/lib/trust/screening/service";
import { createRecipientsService } from "@/lib/trust/recipients/service";
import { buildChainAccess } from "./chain-access";

/**
 * The providers that price and execute movements, in order of preference. New providers belong
 * here.
 */
const configuredProviders = ({ registry, clock }: Platform): readonly RoutingProvider[] => [
  createOnchainRouting({ registry, clock }),
];

const buildRouting = (platform: Platform): Routing =>
  createRoutingService(
    platform.overrides.routing ?? configuredProviders(platform),
    platform.errorLog,
  );

const buildScreening = ({ config, database, registry, clock, overrides }: Platform) => {
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

export const buildCheckedAccess = (platform: Platform) => {
  const chainAccess = buildChainAccess(platform);
  const [screening, routing] = [buildScreening(platform), buildRouting(platform)];
  const { registry, database } = platform;
  const { freezes } = chainAccess;
  const reader = sqlOn(database.pool);
  const recipients = createRecipientsService({ registry, reader, routing, freezes, screening });
  return { ...chainAccess, screening, routing, recipients };
};

export type CheckedAccess = ReturnType<typeof buildCheckedAccess>;
