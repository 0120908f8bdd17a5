--
-- PostgreSQL database dump
--



SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';


CREATE TABLE public.hearken_action (
    id text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    tool text NOT NULL,
    principal text NOT NULL,
    state text NOT NULL,
    target text NOT NULL,
    same text NOT NULL,
    grant_id text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    document json NOT NULL
);


CREATE TABLE public.hearken_alarm (
    action text NOT NULL COLLATE pg_catalog."C",
    version integer NOT NULL,
    next_at timestamp with time zone,
    firing_at timestamp with time zone,
    document json NOT NULL
);


CREATE TABLE public.hearken_contact (
    id text NOT NULL COLLATE pg_catalog."C",
    document json NOT NULL
);


CREATE TABLE public.hearken_grant (
    id text NOT NULL COLLATE pg_catalog."C",
    created_at timestamp with time zone NOT NULL,
    document json NOT NULL
);


CREATE TABLE public.hearken_key (
    id text NOT NULL,
    name text NOT NULL,
    hash bytea NOT NULL,
    created_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    toolsets json NOT NULL,
    approver text DEFAULT ''::text NOT NULL
);


CREATE TABLE public.hearken_migration (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);


CREATE TABLE public.hearken_note (
    session bigint NOT NULL,
    text text NOT NULL,
    saved_at timestamp with time zone NOT NULL,
    by text NOT NULL
);


CREATE TABLE public.hearken_segment (
    key bigint NOT NULL,
    session bigint NOT NULL,
    line integer NOT NULL,
    id text NOT NULL,
    source text NOT NULL,
    status text NOT NULL,
    text text NOT NULL,
    start_time double precision NOT NULL,
    end_time double precision NOT NULL,
    confidence double precision,
    speaker integer,
    language text NOT NULL,
    is_final boolean NOT NULL,
    "timestamp" timestamp with time zone NOT NULL,
    echo boolean NOT NULL,
    durable boolean NOT NULL,
    original text NOT NULL,
    estimated boolean NOT NULL,
    words json,
    terms tsvector
);


ALTER TABLE public.hearken_segment ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.hearken_segment_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


CREATE TABLE public.hearken_session (
    key bigint NOT NULL,
    id text NOT NULL,
    title text NOT NULL,
    status text NOT NULL,
    stop_reason text NOT NULL,
    language text NOT NULL,
    provider text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    stopped_at timestamp with time zone,
    duration double precision NOT NULL,
    segment_count integer NOT NULL,
    epoch integer NOT NULL,
    principal text NOT NULL,
    config json NOT NULL
);


ALTER TABLE public.hearken_session ALTER COLUMN key ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.hearken_session_key_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


INSERT INTO public.hearken_action VALUES ('evt_dbsnuf4vugakblna', 6, 'calendar.create', 'key_emntr6qakvz65om7', 'done', 'builtin', 'client:market-1', '', '2026-11-15 17:49:18.62145+00', '2031-11-07 17:30:00+00', '{"id":"evt_dbsnuf4vugakblna","tool":"calendar.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","event":{"title":"Forty crates of apples","start":"2031-11-08T01:00:00+09:00","zone":"Asia/Tokyo","duration":5400000000000,"description":"by Friday","location":"Old mill"},"connector":"builtin","target":"builtin","digest":"bbb55182bcc4b0813deeb9ed2cec8fbe247dc0c70624b82f7dd5f1ee3c34da2a","evidence":[{"arg":"title","source":"S","session":"01a1e053-8eb3-7506-aed0-ddd839749cc4","segment":"M0-1","line":1,"start":0.5,"end":2.5,"at":"2026-11-15T17:48:55Z","speaker":0,"quote":"We need forty crates of apples by Friday.","cover":1,"claimed":true},{"arg":"description","source":"S","session":"01a1e053-8eb3-7506-aed0-ddd839749cc4","segment":"M0-1","line":1,"start":0.5,"end":2.5,"at":"2026-11-15T17:48:55Z","speaker":0,"quote":"We need forty crates of apples by Friday.","cover":1,"claimed":true},{"arg":"location","source":"","cover":0}],"cautions":["The words for the title came from the other side of the call.","The words for the description came from the other side of the call.","Nobody was heard saying the location."],"grantable":false,"createdAt":"2026-11-15T17:49:18.62145Z","expiresAt":"2026-11-15T17:59:18.62145Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:18.956977Z"},"attempts":1,"endedAt":"2026-11-15T17:49:18.971763Z","receipt":"evt_dbsnuf4vugakblna@hearken"}');
INSERT INTO public.hearken_action VALUES ('msg_fbu3efk54qbshx6z', 5, 'message.send', 'key_emntr6qakvz65om7', 'done', 'email:bob@example.org', 'c23b5ee21a5a16e9de05c54aa2555c038fce46d56f1be4f92541d4bf9db2d457', 'grn_tbuqccacqfm4ywxs', '2026-11-15 17:49:20.212847+00', '2026-11-15 17:49:20.228787+00', '{"id":"msg_fbu3efk54qbshx6z","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","message":{"to":"Bob Okonkwo","name":"Bob Okonkwo","address":"bob@example.org","platform":"email","text":"Lunch is at one.","known":true},"connector":"email","target":"email:bob@example.org","digest":"c23b5ee21a5a16e9de05c54aa2555c038fce46d56f1be4f92541d4bf9db2d457","evidence":[{"arg":"to","source":"M","session":"b432456b-9bf3-5e48-beed-51772994f4d6","segment":"M0-1","line":1,"end":2.5,"at":"2026-11-15T17:48:23Z","quote":"Tell Bob that lunch is at one.","cover":1},{"arg":"text","source":"M","session":"b432456b-9bf3-5e48-beed-51772994f4d6","segment":"M0-1","line":1,"end":2.5,"at":"2026-11-15T17:48:23Z","quote":"Tell Bob that lunch is at one.","cover":1}],"cautions":["Nothing was sent to this address before."],"grantable":true,"createdAt":"2026-11-15T17:49:20.212847Z","expiresAt":"2026-11-15T17:59:20.212847Z","decision":{"allow":true,"by":"grant","from":"grant","grant":"grn_tbuqccacqfm4ywxs","at":"2026-11-15T17:49:20.212847Z"},"attempts":1,"endedAt":"2026-11-15T17:49:20.228787Z","receipt":"\u003cmsg_fbu3efk54qbshx6z@hub.example\u003e"}');
INSERT INTO public.hearken_action VALUES ('rem_q76oipq57cyt4sci', 6, 'reminder.create', 'key_emntr6qakvz65om7', 'done', 'builtin', '46b63f94a326f6936f9d5adfefebbe0d99547021753c2dab192ce46f496f6167', '', '2026-11-15 17:49:19.511397+00', '2026-11-15 17:49:19.692316+00', '{"id":"rem_q76oipq57cyt4sci","tool":"reminder.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","reminder":{"at":"2031-11-10T03:00:00+09:00","zone":"Asia/Tokyo","note":"Water the trees","repeat":"FREQ=WEEKLY;BYDAY=MO"},"connector":"builtin","target":"builtin","digest":"46b63f94a326f6936f9d5adfefebbe0d99547021753c2dab192ce46f496f6167","evidence":[{"arg":"note","source":"","cover":0}],"cautions":["Nobody was heard saying the note.","The first time is Mon 10 Nov 2031 03:00, because the repetition leaves out Sat 8 Nov 2031 03:00."],"grantable":false,"createdAt":"2026-11-15T17:49:19.511397Z","expiresAt":"2026-11-15T17:59:19.511397Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:19.687273Z"},"attempts":1,"endedAt":"2026-11-15T17:49:19.692316Z","receipt":"rem_q76oipq57cyt4sci"}');
INSERT INTO public.hearken_action VALUES ('msg_auffceifkvago4x4', 2, 'message.send', 'key_emntr6qakvz65om7', 'denied', 'email:zoe@example.net', 'd02867047802a82c2303ec3c381e205ae6287d58eab0c0d813b235f355c7235a', '', '2026-11-15 17:49:20.28603+00', '2026-11-15 17:49:20.28603+00', '{"id":"msg_auffceifkvago4x4","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"denied","message":{"to":"zoe@example.net","address":"zoe@example.net","platform":"email","text":"The van leaves at six.","known":false},"connector":"email","target":"email:zoe@example.net","digest":"d02867047802a82c2303ec3c381e205ae6287d58eab0c0d813b235f355c7235a","evidence":[{"arg":"to","source":"S","session":"01a1e053-8eb3-7506-aed0-ddd839749cc4","segment":"S0-2","line":2,"start":3,"end":5,"at":"2026-11-15T17:48:57Z","speaker":1,"quote":"Please write to zoe@example.net about the van.","cover":1},{"arg":"text","source":"","cover":0}],"cautions":["The words for the recipient came from the other side of the call.","Nobody was heard saying the text.","Nothing was sent to this address before."],"grantable":false,"createdAt":"2026-11-15T17:49:20.28603Z","expiresAt":"2026-11-15T17:59:20.28603Z","decision":{"allow":false,"by":"policy","from":"policy","at":"2026-11-15T17:49:20.28603Z"},"endedAt":"2026-11-15T17:49:20.28603Z","error":"policy_denied: only the other side of the call named this recipient, who is not in the contact book."}');
INSERT INTO public.hearken_action VALUES ('msg_43a2hkp3ocmgsyny', 3, 'message.send', 'key_emntr6qakvz65om7', 'denied', 'email:maria@example.org', '695b8e5a98e063a8aa12f254a525caca4ede1ff671943055fc5243dfcfdb7fbf', '', '2026-11-15 17:49:20.306016+00', '2026-11-15 17:49:20.491407+00', '{"id":"msg_43a2hkp3ocmgsyny","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"denied","message":{"to":"Maria Souza","name":"Maria Souza","address":"maria@example.org","platform":"email","text":"Cancel the order.","known":true},"connector":"email","target":"email:maria@example.org","digest":"695b8e5a98e063a8aa12f254a525caca4ede1ff671943055fc5243dfcfdb7fbf","evidence":[{"arg":"to","source":"","cover":0},{"arg":"text","source":"","cover":0}],"cautions":["Nobody was heard saying the recipient.","Nobody was heard saying the text."],"grantable":false,"createdAt":"2026-11-15T17:49:20.306016Z","expiresAt":"2026-11-15T17:59:20.306016Z","decision":{"allow":false,"by":"owner","from":"file","reason":"not before Friday","at":"2026-11-15T17:49:20.491407Z"},"endedAt":"2026-11-15T17:49:20.491407Z","error":"denied: the owner said no."}');
INSERT INTO public.hearken_action VALUES ('rem_77jlq6j6fzjsav73', 6, 'reminder.create', 'key_emntr6qakvz65om7', 'done', 'builtin', 'f42efdb96d8b5daa0bcdb2bb0475775e658449f00aeb2060598de73f0581010d', '', '2026-11-15 17:49:33.166584+00', '2026-11-15 17:49:33.442839+00', '{"id":"rem_77jlq6j6fzjsav73","tool":"reminder.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","reminder":{"at":"2026-11-16T02:49:48+09:00","zone":"Asia/Tokyo","note":"Water the seedlings","repeat":"FREQ=DAILY"},"connector":"builtin","target":"builtin","digest":"f42efdb96d8b5daa0bcdb2bb0475775e658449f00aeb2060598de73f0581010d","evidence":[{"arg":"note","source":"","cover":0}],"cautions":["Nobody was heard saying the note."],"grantable":false,"createdAt":"2026-11-15T17:49:33.166584Z","expiresAt":"2026-11-15T17:49:39.166584Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:33.435451Z"},"attempts":1,"endedAt":"2026-11-15T17:49:33.442839Z","receipt":"rem_77jlq6j6fzjsav73"}');
INSERT INTO public.hearken_action VALUES ('msg_n7eymxlfunbvnttm', 6, 'message.send', 'key_emntr6qakvz65om7', 'done', 'email:maria@example.org', '49c49856a81c8ecdcb3804ac06fb45baf0605265f525cdb7a63b4651577bf7af', '', '2026-11-15 17:49:18.981367+00', '2026-11-15 17:49:19.250247+00', '{"id":"msg_n7eymxlfunbvnttm","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","message":{"to":"Maria Souza","name":"Maria Souza","address":"maria@example.org","platform":"email","text":"As maçãs chegam na sexta.","known":true},"connector":"email","target":"email:maria@example.org","digest":"49c49856a81c8ecdcb3804ac06fb45baf0605265f525cdb7a63b4651577bf7af","evidence":[{"arg":"to","source":"","cover":0},{"arg":"text","source":"","cover":0}],"cautions":["Nobody was heard saying the recipient.","Nobody was heard saying the text.","Nothing was sent to this address before."],"grantable":false,"createdAt":"2026-11-15T17:49:18.981367Z","expiresAt":"2026-11-15T17:59:18.981367Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:19.220152Z"},"attempts":1,"endedAt":"2026-11-15T17:49:19.250247Z","receipt":"\u003cmsg_n7eymxlfunbvnttm@hub.example\u003e"}');
INSERT INTO public.hearken_action VALUES ('rem_7ec7rpuwjj45wso3', 6, 'reminder.create', 'key_emntr6qakvz65om7', 'done', 'builtin', 'd44e51d37bfcbfa371a1a78326617ea1e12ba903837e3339027d7b87b9beeca0', '', '2026-11-15 17:49:19.256275+00', '2026-11-15 17:49:19.506501+00', '{"id":"rem_7ec7rpuwjj45wso3","tool":"reminder.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"done","reminder":{"at":"2031-11-08T02:00:00+09:00","zone":"Asia/Tokyo","note":"Renew the stall"},"connector":"builtin","target":"builtin","digest":"d44e51d37bfcbfa371a1a78326617ea1e12ba903837e3339027d7b87b9beeca0","evidence":[{"arg":"note","source":"","cover":0}],"cautions":["Nobody was heard saying the note."],"grantable":false,"createdAt":"2026-11-15T17:49:19.256275Z","expiresAt":"2026-11-15T17:59:19.256275Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:19.501355Z"},"attempts":1,"endedAt":"2026-11-15T17:49:19.506501Z","receipt":"rem_7ec7rpuwjj45wso3"}');
INSERT INTO public.hearken_action VALUES ('msg_cf6ecn46rdp65o3o', 6, 'message.send', 'key_emntr6qakvz65om7', 'unknown', 'email:maria@example.org', 'c7161bb771845a494dde2c1bb32bbf424c710a03499aa6f6ad5a7d669ea512cb', '', '2026-11-15 17:49:20.746085+00', '2026-11-15 17:49:21.042914+00', '{"id":"msg_cf6ecn46rdp65o3o","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"unknown","message":{"to":"Maria Souza","name":"Maria Souza","address":"maria@example.org","platform":"email","text":"Did this arrive?","known":true},"connector":"email","target":"email:maria@example.org","digest":"c7161bb771845a494dde2c1bb32bbf424c710a03499aa6f6ad5a7d669ea512cb","evidence":[{"arg":"to","source":"","cover":0},{"arg":"text","source":"","cover":0}],"cautions":["Nobody was heard saying the recipient.","Nobody was heard saying the text."],"grantable":false,"createdAt":"2026-11-15T17:49:20.746085Z","expiresAt":"2026-11-15T17:59:20.746085Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:20.950907Z"},"attempts":1,"endedAt":"2026-11-15T17:49:21.042914Z","error":"outcome_unknown: the hub ended while this was being carried out; look whether it arrived before you send it again."}');
INSERT INTO public.hearken_action VALUES ('evt_d2luil6slrzz3dot', 8, 'calendar.create', 'key_emntr6qakvz65om7', 'undone', 'builtin', 'cd1a930cc7a81ae2acd6cd634cbc16b35980d8824b08f2c1b168b2f9f9571c32', '', '2026-11-15 17:49:19.706852+00', '2026-11-15 17:49:20.207824+00', '{"id":"evt_d2luil6slrzz3dot","tool":"calendar.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"undone","event":{"title":"Taken back","start":"2031-11-08T04:00:00+09:00","zone":"Asia/Tokyo","duration":1800000000000},"connector":"builtin","target":"builtin","digest":"cd1a930cc7a81ae2acd6cd634cbc16b35980d8824b08f2c1b168b2f9f9571c32","evidence":[{"arg":"title","source":"","cover":0}],"cautions":["Nobody was heard saying the title."],"grantable":false,"createdAt":"2026-11-15T17:49:19.706852Z","expiresAt":"2026-11-15T17:59:19.706852Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:19.998135Z"},"attempts":1,"endedAt":"2026-11-15T17:49:20.207824Z","receipt":"evt_d2luil6slrzz3dot@hearken"}');
INSERT INTO public.hearken_action VALUES ('evt_mrzwss45oyfy6ccy', 3, 'calendar.create', 'key_emntr6qakvz65om7', 'cancelled', 'builtin', 'a2e27d95d960ab2ccb6afb5e16fb2f1af928e6dee825bb44f3ab7b19149e61e8', '', '2026-11-15 17:49:20.49661+00', '2026-11-15 17:49:20.527342+00', '{"id":"evt_mrzwss45oyfy6ccy","tool":"calendar.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"cancelled","event":{"title":"Changed my mind","start":"2031-11-08T05:00:00+09:00","zone":"Asia/Tokyo","duration":1800000000000},"connector":"builtin","target":"builtin","digest":"a2e27d95d960ab2ccb6afb5e16fb2f1af928e6dee825bb44f3ab7b19149e61e8","evidence":[{"arg":"title","source":"","cover":0}],"cautions":["Nobody was heard saying the title."],"grantable":false,"createdAt":"2026-11-15T17:49:20.49661Z","expiresAt":"2026-11-15T17:59:20.49661Z","endedAt":"2026-11-15T17:49:20.527342Z","error":"cancelled: it was taken back before it was carried out."}');
INSERT INTO public.hearken_action VALUES ('msg_qrywdsqzf35lfjen', 6, 'message.send', 'key_emntr6qakvz65om7', 'failed', 'webhook:127.0.0.1:39179', '26a1d4079328b5c62b1227a8c993530b79b7e69e3cfca75f968d705fbf60c30f', '', '2026-11-15 17:49:20.529595+00', '2026-11-15 17:49:20.732336+00', '{"id":"msg_qrywdsqzf35lfjen","tool":"message.send","key":"key_emntr6qakvz65om7","keyName":"agent","state":"failed","message":{"to":"Maria Souza","name":"Maria Souza","address":"127.0.0.1:39179","platform":"webhook","text":"Is anybody there?","known":true},"connector":"webhook","target":"webhook:127.0.0.1:39179","digest":"26a1d4079328b5c62b1227a8c993530b79b7e69e3cfca75f968d705fbf60c30f","evidence":[{"arg":"to","source":"","cover":0},{"arg":"text","source":"","cover":0}],"cautions":["Nobody was heard saying the recipient.","Nobody was heard saying the text.","Nothing was sent to this address before."],"grantable":false,"createdAt":"2026-11-15T17:49:20.529595Z","expiresAt":"2026-11-15T17:59:20.529595Z","decision":{"allow":true,"by":"owner","from":"file","at":"2026-11-15T17:49:20.726961Z"},"attempts":1,"endedAt":"2026-11-15T17:49:20.732336Z","error":"provider_rejected: The webhook refuses the message (422)"}');
INSERT INTO public.hearken_action VALUES ('rem_u4rhbxfed2bs2ywa', 3, 'reminder.create', 'key_emntr6qakvz65om7', 'expired', 'builtin', '16f4844b81882a4f44baa8cbb95d46660087c7f5fadbf3c3020e5d90fc3b87bb', '', '2026-11-15 17:49:21.155272+00', '2026-11-15 17:49:27.156811+00', '{"id":"rem_u4rhbxfed2bs2ywa","tool":"reminder.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"expired","reminder":{"at":"2031-11-08T06:00:00+09:00","zone":"Asia/Tokyo","note":"Too late"},"connector":"builtin","target":"builtin","digest":"16f4844b81882a4f44baa8cbb95d46660087c7f5fadbf3c3020e5d90fc3b87bb","evidence":[{"arg":"note","source":"","cover":0}],"cautions":["Nobody was heard saying the note."],"grantable":false,"createdAt":"2026-11-15T17:49:21.155272Z","expiresAt":"2026-11-15T17:49:27.155272Z","endedAt":"2026-11-15T17:49:27.156811Z","error":"approval_expired: nobody decided in time, which means no."}');
INSERT INTO public.hearken_action VALUES ('evt_rdrlhshdt27xeyh4', 1, 'calendar.create', 'key_emntr6qakvz65om7', 'pending', 'builtin', 'e33d406cf39a7764190b5cc78e632e445784beec98e7e23f83c32035e1829e30', '', '2026-11-15 17:49:33.603902+00', NULL, '{"id":"evt_rdrlhshdt27xeyh4","tool":"calendar.create","key":"key_emntr6qakvz65om7","keyName":"agent","state":"pending","event":{"title":"Nobody decides","start":"2031-11-08T20:00:00+09:00","zone":"Asia/Tokyo","duration":1800000000000},"connector":"builtin","target":"builtin","digest":"e33d406cf39a7764190b5cc78e632e445784beec98e7e23f83c32035e1829e30","evidence":[{"arg":"title","source":"","cover":0}],"cautions":["Nobody was heard saying the title."],"grantable":false,"createdAt":"2026-11-15T17:49:33.603902Z","expiresAt":"2026-11-15T17:49:39.603902Z"}');


INSERT INTO public.hearken_alarm VALUES ('rem_7ec7rpuwjj45wso3', 1, '2031-11-07 17:00:00+00', NULL, '{"action":"rem_7ec7rpuwjj45wso3","next":"2031-11-07T17:00:00Z"}');
INSERT INTO public.hearken_alarm VALUES ('rem_q76oipq57cyt4sci', 1, '2031-11-09 18:00:00+00', NULL, '{"action":"rem_q76oipq57cyt4sci","next":"2031-11-09T18:00:00Z"}');
INSERT INTO public.hearken_alarm VALUES ('rem_77jlq6j6fzjsav73', 1, '2026-11-15 17:49:48+00', NULL, '{"action":"rem_77jlq6j6fzjsav73","next":"2026-11-15T17:49:48Z"}');


INSERT INTO public.hearken_contact VALUES ('card-a09be2853b21158e', '{"id":"card-a09be2853b21158e","name":"Ada Moreno","emails":["ada@hub.example"],"me":true}');
INSERT INTO public.hearken_contact VALUES ('card-a2cd8c4928eff5e2', '{"id":"card-a2cd8c4928eff5e2","name":"Maria Souza","aliases":["Mia"],"emails":["maria@example.org"],"phones":["+5511955550123"]}');
INSERT INTO public.hearken_contact VALUES ('card-463b7416cdce0642', '{"id":"card-463b7416cdce0642","name":"Bob Okonkwo","emails":["bob@example.org"]}');


INSERT INTO public.hearken_grant VALUES ('grn_tbuqccacqfm4ywxs', '2026-11-15 17:49:18.026568+00', '{"id":"grn_tbuqccacqfm4ywxs","key":"key_emntr6qakvz65om7","tool":"message.send","target":"email:bob@example.org","perDay":3,"createdAt":"2026-11-15T17:49:18.026568Z","expiresAt":"2026-12-15T17:49:17.894851Z","from":"terminal"}');
INSERT INTO public.hearken_grant VALUES ('grn_rod5ranfmbayvwsc', '2026-11-15 17:49:18.267574+00', '{"id":"grn_rod5ranfmbayvwsc","key":"key_emntr6qakvz65om7","tool":"calendar.create","target":"builtin","perDay":5,"createdAt":"2026-11-15T17:49:18.267574Z","expiresAt":"2027-11-15T17:49:18.049755Z","from":"terminal"}');
INSERT INTO public.hearken_grant VALUES ('grn_adosqfm6t4gyhrtf', '2026-11-15 17:49:18.563714+00', '{"id":"grn_adosqfm6t4gyhrtf","key":"key_emntr6qakvz65om7","tool":"reminder.create","target":"builtin","perDay":20,"createdAt":"2026-11-15T17:49:18.563714Z","expiresAt":"2026-11-16T17:49:18.289324Z","from":"terminal","revokedAt":"2026-11-15T17:49:18.606968Z"}');


INSERT INTO public.hearken_key VALUES ('owner', '2A7LGXUYG6T67YYAB5BO5LJ46Y /tmp/hearken-upgrade/data', '\xda3ca161e915e5fc2949a6a023049002396feca35caefc1b84ff87c3bc3e8bbd', '2026-11-15 17:48:54.038389+00', '2026-11-15 17:48:54.038389+00', 'null', '');
INSERT INTO public.hearken_key VALUES ('key_emntr6qakvz65om7', 'agent', '\xa29d8f1405aba33b7121cc4e62f595737ae7202c7f7cc44fa490159c4fbcfef6', '2026-11-15 17:48:54.381608+00', NULL, 'null', '');
INSERT INTO public.hearken_key VALUES ('key_gx2rapcyj7u6p5cd', 'desk', '\x7e159a4b32a717492efc882b2bfaa5f9cae65f8a37a092dcc862ca340cacbbba', '2026-11-15 17:48:54.800227+00', NULL, '["read","actions"]', 'client');
INSERT INTO public.hearken_key VALUES ('key_ascigzt2yiskx75n', 'old phone', '\x3bc44a0120f744d68598556c9182a9ce41f7b86284bf7920019e93055a094042', '2026-11-15 17:48:54.591947+00', '2026-11-15 17:48:54.824812+00', 'null', '');


INSERT INTO public.hearken_migration VALUES (1, '2026-11-15 17:48:53.68975+00');
INSERT INTO public.hearken_migration VALUES (2, '2026-11-15 17:48:53.734451+00');


INSERT INTO public.hearken_note VALUES (1, '# Market

- forty crates until **Friday**
- the van: ask Zoë
', '2026-11-15 17:49:17.855598+00', 'key_emntr6qakvz65om7');


INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 'M0-1', 'M', 'C', 'We need forty crates of apples by Friday.', 0.5, 2.5, 0.96875, 0, 'en', true, '2026-11-15 17:48:55.24+00', false, true, '', false, '[{"word":"We","startTime":0.5,"endTime":0.75,"confidence":0.9375,"speaker":0},{"word":"need","startTime":0.75,"endTime":1,"confidence":0.9375,"speaker":0},{"word":"forty","startTime":1,"endTime":1.25,"confidence":0.9375,"speaker":0},{"word":"crates","startTime":1.25,"endTime":1.5,"confidence":0.9375,"speaker":0},{"word":"of","startTime":1.5,"endTime":1.75,"confidence":0.9375,"speaker":0},{"word":"apples","startTime":1.75,"endTime":2,"confidence":0.9375,"speaker":0},{"word":"by","startTime":2,"endTime":2.25,"confidence":0.9375,"speaker":0},{"word":"Friday.","startTime":2.25,"endTime":2.5,"confidence":0.9375,"speaker":0}]', '''apples'' ''by'' ''crates'' ''forty'' ''friday'' ''need'' ''of'' ''we''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (2, 1, 2, 'S0-2', 'S', 'C', 'Please write to zoe@example.net about the van.', 3, 5, 0.96875, 1, 'en', true, '2026-11-15 17:48:57.74+00', false, true, '', false, '[{"word":"Please","startTime":3,"endTime":3.286,"confidence":0.9375,"speaker":1},{"word":"write","startTime":3.286,"endTime":3.571,"confidence":0.9375,"speaker":1},{"word":"to","startTime":3.571,"endTime":3.857,"confidence":0.9375,"speaker":1},{"word":"zoe@example.net","startTime":3.857,"endTime":4.143,"confidence":0.9375,"speaker":1},{"word":"about","startTime":4.143,"endTime":4.429,"confidence":0.9375,"speaker":1},{"word":"the","startTime":4.429,"endTime":4.714,"confidence":0.9375,"speaker":1},{"word":"van.","startTime":4.714,"endTime":5,"confidence":0.9375,"speaker":1}]', '''about'' ''example'' ''net'' ''please'' ''the'' ''to'' ''van'' ''write'' ''zoe''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (3, 1, 3, 'M0-3', 'M', 'N', '', 2.5, 9, NULL, NULL, 'en', true, '2026-11-15 17:48:57.24+00', false, true, '', false, NULL, NULL);
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (4, 1, 4, 'M0-4', 'M', 'C', 'Send the invoice to Mrs. Okonkwo.', 9, 11, 0.96875, 0, 'en', true, '2026-11-15 17:49:03.74+00', false, true, '', false, '[{"word":"Send","startTime":9,"endTime":9.333,"confidence":0.9375,"speaker":0},{"word":"the","startTime":9.333,"endTime":9.667,"confidence":0.9375,"speaker":0},{"word":"invoice","startTime":9.667,"endTime":10,"confidence":0.9375,"speaker":0},{"word":"to","startTime":10,"endTime":10.333,"confidence":0.9375,"speaker":0},{"word":"Mrs.","startTime":10.333,"endTime":10.667,"confidence":0.9375,"speaker":0},{"word":"Okonkwo.","startTime":10.667,"endTime":11,"confidence":0.9375,"speaker":0}]', '''invoice'' ''mrs'' ''okonkwo'' ''send'' ''the'' ''to''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (5, 1, 5, 'S0-5', 'S', 'N', '', 5, 12, NULL, NULL, 'en', true, '2026-11-15 17:48:59.74+00', false, true, '', false, NULL, NULL);
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (6, 3, 1, 'M0-1', 'M', 'C', '来週の火曜日に京都で会いましょう。', 0.5, 2, 0.96875, 0, 'ja', true, '2026-11-15 17:49:07.245+00', false, true, '', false, '[{"word":"来週","startTime":0.5,"endTime":0.714,"confidence":0.9375,"speaker":0},{"word":"の","startTime":0.714,"endTime":0.929,"confidence":0.9375,"speaker":0},{"word":"火曜日","startTime":0.929,"endTime":1.143,"confidence":0.9375,"speaker":0},{"word":"に","startTime":1.143,"endTime":1.357,"confidence":0.9375,"speaker":0},{"word":"京都","startTime":1.357,"endTime":1.571,"confidence":0.9375,"speaker":0},{"word":"で","startTime":1.571,"endTime":1.786,"confidence":0.9375,"speaker":0},{"word":"会いましょう。","startTime":1.786,"endTime":2,"confidence":0.9375,"speaker":0}]', '''いま'' ''う'' ''しょ'' ''で会'' ''に京'' ''の火'' ''まし'' ''ょう'' ''京都'' ''会い'' ''日に'' ''曜日'' ''来週'' ''火曜'' ''週の'' ''都で''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (7, 3, 2, 'M0-2', 'M', 'C', '新しい契約書を準備してください。', 2.5, 4.5, 0.96875, 0, 'ja', true, '2026-11-15 17:49:09.245+00', false, true, '', false, '[{"word":"新しい","startTime":2.5,"endTime":2.833,"confidence":0.9375,"speaker":0},{"word":"契約書","startTime":2.833,"endTime":3.167,"confidence":0.9375,"speaker":0},{"word":"を","startTime":3.167,"endTime":3.5,"confidence":0.9375,"speaker":0},{"word":"準備","startTime":3.5,"endTime":3.833,"confidence":0.9375,"speaker":0},{"word":"して","startTime":3.833,"endTime":4.167,"confidence":0.9375,"speaker":0},{"word":"ください。","startTime":4.167,"endTime":4.5,"confidence":0.9375,"speaker":0}]', '''い'' ''い契'' ''くだ'' ''さい'' ''しい'' ''して'' ''ださ'' ''てく'' ''を準'' ''備し'' ''契約'' ''新し'' ''書を'' ''準備'' ''約書''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (8, 3, 4, 'E0-4', 'E', 'C', '[the last 6s were forgotten on request]', 5, 11, NULL, NULL, '', true, '2026-11-15 17:49:11.745+00', false, true, '', false, NULL, NULL);
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (9, 5, 1, 'M0-1', 'M', 'C', 'Tell Bob that lunch is at one.', 0, 2.5, 0.875, NULL, 'en', true, '2026-11-15 17:48:23+00', false, true, '', false, NULL, '''at'' ''bob'' ''is'' ''lunch'' ''one'' ''tell'' ''that''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (10, 5, 2, 'S0-2', 'S', 'C', 'Então nos vemos no café.', 4, 6.5, 0.875, NULL, 'pt', true, '2026-11-15 17:48:27+00', false, true, '', false, NULL, '''cafe'' ''entao'' ''no'' ''nos'' ''vemos''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (11, 5, 3, 'S0-3', 'S', 'T', 'Then we will meet at the café.', 4, 6.5, 0.875, NULL, 'en', true, '2026-11-15 17:48:27+00', false, true, '', false, NULL, '''at'' ''cafe'' ''meet'' ''the'' ''then'' ''we'' ''will''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (12, 5, 4, 'M0-4', 'M', 'N', '', 8, 10.5, 0.875, NULL, '', true, '2026-11-15 17:48:31+00', false, true, '', false, NULL, NULL);
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (13, 5, 5, 'E0-5', 'E', 'C', 'The microphone was changed.', 12, 14.5, 0.875, NULL, '', true, '2026-11-15 17:48:35+00', false, true, '', false, NULL, NULL);
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (14, 6, 1, 'M0-1', 'M', 'C', 'A reunião de amanhã começa às nove.', 0.5, 2.5, 0.96875, 0, 'pt-BR', true, '2026-11-15 17:49:27.56+00', false, true, '', false, '[{"word":"A","startTime":0.5,"endTime":0.786,"confidence":0.9375,"speaker":0},{"word":"reunião","startTime":0.786,"endTime":1.071,"confidence":0.9375,"speaker":0},{"word":"de","startTime":1.071,"endTime":1.357,"confidence":0.9375,"speaker":0},{"word":"amanhã","startTime":1.357,"endTime":1.643,"confidence":0.9375,"speaker":0},{"word":"começa","startTime":1.643,"endTime":1.929,"confidence":0.9375,"speaker":0},{"word":"às","startTime":1.929,"endTime":2.214,"confidence":0.9375,"speaker":0},{"word":"nove.","startTime":2.214,"endTime":2.5,"confidence":0.9375,"speaker":0}]', '''a'' ''amanha'' ''as'' ''comeca'' ''de'' ''nove'' ''reuniao''');
INSERT INTO public.hearken_segment OVERRIDING SYSTEM VALUE VALUES (15, 6, 2, 'M0-2', 'M', 'C', 'Não se esqueça do relatório.', 3, 5, 0.96875, 0, 'pt-BR', true, '2026-11-15 17:49:30.06+00', false, true, '', false, '[{"word":"Não","startTime":3,"endTime":3.4,"confidence":0.9375,"speaker":0},{"word":"se","startTime":3.4,"endTime":3.8,"confidence":0.9375,"speaker":0},{"word":"esqueça","startTime":3.8,"endTime":4.2,"confidence":0.9375,"speaker":0},{"word":"do","startTime":4.2,"endTime":4.6,"confidence":0.9375,"speaker":0},{"word":"relatório.","startTime":4.6,"endTime":5,"confidence":0.9375,"speaker":0}]', '''do'' ''esqueca'' ''nao'' ''relatorio'' ''se''');


INSERT INTO public.hearken_session OVERRIDING SYSTEM VALUE VALUES (1, '01a1e053-8eb3-7506-aed0-ddd839749cc4', 'Harvest market', 'stopped', 'requested', 'en', 'deepgram', '2026-11-15 17:48:54.835+00', '2026-11-15 17:49:17.848733+00', 12, 5, 0, 'key_emntr6qakvz65om7', '{"encoding":"linear16","sampleRate":16000,"channels":2,"model":"nova-3","vocabulary":["Okonkwo"]}');
INSERT INTO public.hearken_session OVERRIDING SYSTEM VALUE VALUES (3, '01a1e053-bd9a-7b47-a8c9-22ddee60517e', '京都', 'stopped', 'requested', 'ja', 'deepgram', '2026-11-15 17:49:06.842+00', '2026-11-15 17:49:17.859858+00', 11, 4, 0, 'loopback', '{"encoding":"linear16","sampleRate":16000,"channels":1}');
INSERT INTO public.hearken_session OVERRIDING SYSTEM VALUE VALUES (5, 'b432456b-9bf3-5e48-beed-51772994f4d6', 'ParrotScribe fixture-1', 'stopped', 'finished', 'en', 'pscribe', '2026-11-15 17:48:23+00', '2026-11-15 17:48:35+00', 14.5, 5, 0, 'local', '{"capture":true}');
INSERT INTO public.hearken_session OVERRIDING SYSTEM VALUE VALUES (6, '01a1e054-0cf7-70bd-b368-27a8a9c9d3f7', 'Reunião', 'active', '', 'pt-BR', 'deepgram', '2026-11-15 17:49:27.159+00', NULL, 6, 2, 0, 'key_emntr6qakvz65om7', '{"encoding":"linear16","sampleRate":16000,"channels":1}');


SELECT pg_catalog.setval('public.hearken_segment_key_seq', 15, true);


SELECT pg_catalog.setval('public.hearken_session_key_seq', 6, true);


ALTER TABLE ONLY public.hearken_action
    ADD CONSTRAINT hearken_action_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.hearken_alarm
    ADD CONSTRAINT hearken_alarm_pkey PRIMARY KEY (action);


ALTER TABLE ONLY public.hearken_contact
    ADD CONSTRAINT hearken_contact_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.hearken_grant
    ADD CONSTRAINT hearken_grant_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.hearken_key
    ADD CONSTRAINT hearken_key_pkey PRIMARY KEY (id);


ALTER TABLE ONLY public.hearken_migration
    ADD CONSTRAINT hearken_migration_pkey PRIMARY KEY (version);


ALTER TABLE ONLY public.hearken_note
    ADD CONSTRAINT hearken_note_pkey PRIMARY KEY (session);


ALTER TABLE ONLY public.hearken_segment
    ADD CONSTRAINT hearken_segment_pkey PRIMARY KEY (key);


ALTER TABLE ONLY public.hearken_segment
    ADD CONSTRAINT hearken_segment_session_line_key UNIQUE (session, line);


ALTER TABLE ONLY public.hearken_session
    ADD CONSTRAINT hearken_session_id_key UNIQUE (id);


ALTER TABLE ONLY public.hearken_session
    ADD CONSTRAINT hearken_session_pkey PRIMARY KEY (key);


CREATE INDEX hearken_action_by_creation ON public.hearken_action USING btree (created_at DESC, id DESC);


CREATE INDEX hearken_action_by_end ON public.hearken_action USING btree (ended_at);


CREATE INDEX hearken_action_by_grant ON public.hearken_action USING btree (grant_id, created_at DESC) WHERE (grant_id <> ''::text);


CREATE INDEX hearken_action_by_same ON public.hearken_action USING hash (same);


CREATE INDEX hearken_action_by_state ON public.hearken_action USING btree (state, created_at DESC, id DESC);


CREATE INDEX hearken_alarm_by_next ON public.hearken_alarm USING btree (next_at);


CREATE INDEX hearken_alarm_firing ON public.hearken_alarm USING btree (firing_at) WHERE (firing_at IS NOT NULL);


CREATE INDEX hearken_segment_by_term ON public.hearken_segment USING gin (terms);


CREATE INDEX hearken_segment_by_time ON public.hearken_segment USING btree ("timestamp" DESC, key DESC);


CREATE INDEX hearken_session_by_start ON public.hearken_session USING btree (started_at DESC, id DESC);


CREATE INDEX hearken_session_by_status ON public.hearken_session USING btree (status, started_at DESC, id DESC);


ALTER TABLE ONLY public.hearken_note
    ADD CONSTRAINT hearken_note_session_fkey FOREIGN KEY (session) REFERENCES public.hearken_session(key) ON DELETE CASCADE;


ALTER TABLE ONLY public.hearken_segment
    ADD CONSTRAINT hearken_segment_session_fkey FOREIGN KEY (session) REFERENCES public.hearken_session(key) ON DELETE CASCADE;


--
-- PostgreSQL database dump complete
--


