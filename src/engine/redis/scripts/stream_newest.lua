-- The id given last, whether the message is still there or not.
if call('EXISTS', stream) == 0 then return '0-0' end
return as_table(call('XINFO', 'STREAM', stream))['last-generated-id']
