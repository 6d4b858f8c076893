import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { Webhooks } from "@/components/features/webhooks/webhooks";
import { endpointsQuery } from "@/components/features/webhooks/endpoint";

export const metadata: Metadata = { title: "Webhooks" };

const Page = (): ReactNode => (
  <Prefetched queries={[endpointsQuery]}>
    <Webhooks />
  </Prefetched>
);

export default Page;
