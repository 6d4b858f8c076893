import type { Prover } from "@/lib/adapters/privacy-pools/prover";
import type { ChainRegistry } from "@/lib/chains/registry";
import type { Clock } from "@/lib/core/clock";
import type { Ticker } from "@/lib/core/ticker";
import type { Bundler } from "@/lib/ports/bundler";
import type { Mailer } from "@/lib/ports/mail";
import type { PriceOracle } from "@/lib/ports/price-oracle";
import type { PrivacyEngine } from "@/lib/ports/privacy";
import type { RoutingProvider } from "@/lib/ports/routing";
import type { ScreeningSource } from "@/lib/ports/screening";
import type { WebhookSender } from "@/lib/ports/webhook-sender";

/** Replacements for real dependencies in tests. */
export interface Overrides {
  clock?: Clock;
  registry?: ChainRegistry;
  /** All routing providers, in the order of preference. */
  routing?: readonly RoutingProvider[];
  priceOracle?: PriceOracle;
  bundler?: Bundler;
  prover?: Prover;
  privacyEngine?: PrivacyEngine;
  mailer?: Mailer;
  ticker?: Ticker;
  webhookSender?: WebhookSender;
  /** All sources of screening. */
  screening?: readonly ScreeningSource[];
}
