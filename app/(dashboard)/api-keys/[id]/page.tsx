import type { Metadata } from "next";
import type { ReactNode } from "react";
import { KeyRequests } from "@/components/features/api-keys/key-requests";

export const metadata: Metadata = { title: "Requests of an API key" };

interface PageProps {
  readonly params: Promise<{ readonly id: string }>;
}

const Page = async ({ params }: PageProps): Promise<ReactNode> => {
  const { id } = await params;
  return <KeyRequests key={id} keyId={id} />;
};

export default Page;
