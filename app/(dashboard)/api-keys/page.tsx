import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { API_KEYS_QUERIES } from "@/app/_data/queries";
import { ApiKeys } from "@/components/features/api-keys/api-keys";

export const metadata: Metadata = { title: "API keys" };

const Page = (): ReactNode => (
  <Prefetched queries={API_KEYS_QUERIES}>
    <ApiKeys />
  </Prefetched>
);

export default Page;
