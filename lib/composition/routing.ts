import { createOnchainRouting } from "@/lib/adapters/onchain/provider";
import { createRoutingService } from "@/lib/modules/routing/service";
import type { Routing, RoutingProvider } from "@/lib/ports/routing";
import type { Platform } from "./platform";

/** The providers that price and carry out movements, in the order of preference. A new provider is one line here. */
const configuredProviders = ({ registry, clock }: Platform): readonly RoutingProvider[] => [
  createOnchainRouting({ registry, clock }),
];

export const buildRouting = (platform: Platform): Routing =>
  createRoutingService(platform.overrides.routing ?? configuredProviders(platform), platform.errorLog);
