import type { Metadata } from "next";
import type { ReactNode } from "react";
import { EndpointPage } from "@/components/features/webhooks/endpoint-page";

export const metadata: Metadata = { title: "Webhook endpoint" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <EndpointPage key={id} endpointId={id} />;
};

export default Page;
