import type { Metadata } from "next";
import type { ReactNode } from "react";
import { Prefetched } from "@/app/_data/prefetched";
import { webhookEndpointQueries } from "@/app/_data/queries";
import { EndpointPage } from "@/components/features/webhooks/endpoint-page";

export const metadata: Metadata = { title: "Webhook endpoint" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return (
    <Prefetched queries={webhookEndpointQueries(id)}>
      <EndpointPage key={id} endpointId={id} />
    </Prefetched>
  );
};

export default Page;
