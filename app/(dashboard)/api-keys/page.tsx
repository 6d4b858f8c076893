import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { ApiKeys } from "@/components/features/api-keys/api-keys";
import { apiKeysQuery } from "@/components/features/api-keys/use-api-keys";

export const metadata: Metadata = { title: "API keys" };

const Page = (): ReactNode => (
  <Prefetched queries={[apiKeysQuery]}>
    <ApiKeys />
  </Prefetched>
);

export default Page;
