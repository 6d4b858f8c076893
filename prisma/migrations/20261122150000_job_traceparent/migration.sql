-- W3C traceparent of the span in which a job was made, so that its turns join the trace of the request.
ALTER TABLE "job" ADD COLUMN "traceparent" TEXT;
