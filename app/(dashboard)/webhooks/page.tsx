import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { WEBHOOKS_QUERIES } from "@/app/_data/queries";
import { Webhooks } from "@/components/features/webhooks/webhooks";

export const metadata: Metadata = { title: "Webhooks" };

const Page = (): ReactNode => (
  <Prefetched queries={WEBHOOKS_QUERIES}>
    <Webhooks />
  </Prefetched>
);

export default Page;
