// Written by scripts/gen-routes.ts from the folder app/api: `npm run generate`.
import * as rest from "@/app/api/[...rest]/route";
import * as authApiKeys from "@/app/api/auth/api-keys/route";
import * as authApiKeysId from "@/app/api/auth/api-keys/[id]/route";
import * as authJwks from "@/app/api/auth/jwks/route";
import * as authLogout from "@/app/api/auth/logout/route";
import * as authNonce from "@/app/api/auth/nonce/route";
import * as authRefresh from "@/app/api/auth/refresh/route";
import * as authToken from "@/app/api/auth/token/route";
import * as authWhoami from "@/app/api/auth/whoami/route";
import * as balancesUnified from "@/app/api/balances/unified/route";
import * as chains from "@/app/api/chains/route";
import * as devFaucet from "@/app/api/dev/faucet/route";
import * as devInbox from "@/app/api/dev/inbox/route";
import * as health from "@/app/api/health/route";
import * as me from "@/app/api/me/route";
import * as meEmailVerify from "@/app/api/me/email/verify/route";
import * as openapiJson from "@/app/api/openapi.json/route";
import * as operations from "@/app/api/operations/route";
import * as operationsId from "@/app/api/operations/[id]/route";
import * as operationsIdEvents from "@/app/api/operations/[id]/events/route";
import * as ready from "@/app/api/ready/route";
import * as swapExecute from "@/app/api/swap/execute/route";
import * as swapPrepare from "@/app/api/swap/prepare/route";
import * as swapQuote from "@/app/api/swap/quote/route";
import * as swapRequestOtp from "@/app/api/swap/request-otp/route";
import * as tokens from "@/app/api/tokens/route";
import * as wallets from "@/app/api/wallets/route";
import type { RouteEntry } from "@/lib/http/fast-server";

export const routes: readonly RouteEntry[] = [
  { path: "/api/[...rest]", module: rest },
  { path: "/api/auth/api-keys", module: authApiKeys },
  { path: "/api/auth/api-keys/[id]", module: authApiKeysId },
  { path: "/api/auth/jwks", module: authJwks },
  { path: "/api/auth/logout", module: authLogout },
  { path: "/api/auth/nonce", module: authNonce },
  { path: "/api/auth/refresh", module: authRefresh },
  { path: "/api/auth/token", module: authToken },
  { path: "/api/auth/whoami", module: authWhoami },
  { path: "/api/balances/unified", module: balancesUnified },
  { path: "/api/chains", module: chains },
  { path: "/api/dev/faucet", module: devFaucet },
  { path: "/api/dev/inbox", module: devInbox },
  { path: "/api/health", module: health },
  { path: "/api/me", module: me },
  { path: "/api/me/email/verify", module: meEmailVerify },
  { path: "/api/openapi.json", module: openapiJson },
  { path: "/api/operations", module: operations },
  { path: "/api/operations/[id]", module: operationsId },
  { path: "/api/operations/[id]/events", module: operationsIdEvents },
  { path: "/api/ready", module: ready },
  { path: "/api/swap/execute", module: swapExecute },
  { path: "/api/swap/prepare", module: swapPrepare },
  { path: "/api/swap/quote", module: swapQuote },
  { path: "/api/swap/request-otp", module: swapRequestOtp },
  { path: "/api/tokens", module: tokens },
  { path: "/api/wallets", module: wallets },
];

/** Unknown paths below these are next-auth's. */
export const fallbackPrefixes: readonly string[] = ["/api/auth/"];
